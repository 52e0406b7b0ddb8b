// The page of `lockstep predict`: curves over the number of workers, and tables.

function drawTimeline() {}  // printing.js calls it; this page has no timeline

function readPredictPage() {
  const page = JSON.parse(document.getElementById('page-data').textContent);
  const list = (value) => (Array.isArray(value) ? value : []);
  return { ...page, runs: [], notes: list(page.notes), tables: list(page.tables),
    predictions: list(page.predictions).filter((one) => isNumber(one.workers)) };
}

function predictFooter(page) {
  return element('footer', {}, `Created ${page.made ?? ''} by Lockstep${page.version ? ` ${page.version}` : ''}. `
    + 'This file needs no network. Charts by Chart.js (MIT licence).');
}

function startPage() {
  const page = readPredictPage();
  document.title = page.title ?? 'Lockstep predict';
  followTheme();
  document.getElementById('page').append(...[header(page), notes(page), curvesSection(page), tables(page),
    predictFooter(page)].filter((its) => its));
  drawAllCharts();
  onThemeChange(drawAllCharts);
  followPrinting();
}
