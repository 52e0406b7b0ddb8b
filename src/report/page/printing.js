// For printing: light colours, everything unfolded, and charts as wide as the paper, because shrunk ones are unreadable.

const PAPER_WIDTH = 640;  // CSS pixels, within the margins of A4 and Letter
let onPaper = false;

function fitDrawings() {
  allCharts.forEach(({ chart }) => {
    if (onPaper) chart.resize(PAPER_WIDTH, chart.height);
    else chart.resize();
  });
  drawTimeline();
}

function followPrinting() {
  let unfolded = [];
  window.addEventListener('beforeprint', () => {
    onPaper = true;
    unfolded = [...document.querySelectorAll('details:not([open])')];
    unfolded.forEach((details) => { details.open = true; });
    showTheme('light');
    fitDrawings();
  });
  window.addEventListener('afterprint', () => {
    onPaper = false;
    unfolded.forEach((details) => { details.open = false; });
    showTheme(wantedTheme());
    fitDrawings();
  });
}
