// For printing: light colours, everything unfolded, and charts and tables as wide as the paper.

const PAPER_WIDTH = 688;  // CSS pixels of A4 within the margins of page.css
const CHART_PAPER_WIDTH = PAPER_WIDTH - 40;
const CHART_PAPER_SHRINKS = 0.85;  // so that two charts fit on a page
let onPaper = false;

function fitDrawings() {
  allCharts.forEach(({ chart }) => {
    if (onPaper) chart.resize(CHART_PAPER_WIDTH, CHART_PAPER_SHRINKS * chart.height);
    else chart.resize();
  });
  drawTimeline();
  fittedTables.forEach((table) => (onPaper ? table.paper(PAPER_WIDTH) : table.fit()));
}

function layOutFor(paper) {
  onPaper = paper;
  document.documentElement.classList.toggle('on-paper', paper);
  showTheme(paper ? 'light' : wantedTheme());
  fitDrawings();
}

function followPrinting() {
  let unfolded = [];
  window.addEventListener('beforeprint', () => {
    unfolded = [...document.querySelectorAll('details:not([open])')];
    unfolded.forEach((details) => { details.open = true; });
    layOutFor(true);
  });
  window.addEventListener('afterprint', () => {
    unfolded.forEach((details) => { details.open = false; });
    layOutFor(false);
  });
}
