// The pages of `lockstep dataflow`: charts of every layer, or cycles to step through.

function drawTimeline() {}  // printing.js calls it; these pages have no timeline

function readDataflowPage() {
  const page = JSON.parse(document.getElementById('page-data').textContent);
  const list = (value) => (Array.isArray(value) ? value : []);
  return { ...page, runs: [], notes: [], tables: list(page.tables), layers: list(page.layers),
    totals: list(page.totals) };
}

function dataflowFooter(page) {
  return element('footer', {}, `Created ${page.made ?? ''} by Lockstep${page.version ? ` ${page.version}` : ''}. `
    + 'This file needs no network. Charts by Chart.js (MIT licence).');
}

function startPage() {
  const page = readDataflowPage();
  document.title = page.title ?? 'Lockstep dataflow';
  followTheme();
  const body = page.kind === 'cycles' ? cyclesBody(page) : layersBody(page);
  document.getElementById('page').append(...[header(page), ...body, dataflowFooter(page)].filter((its) => its));
  const draw = () => {
    drawAllCharts();
    drawPlayer();
  };
  draw();
  onThemeChange(draw);
  window.addEventListener('resize', drawPlayer);
  followPrinting();
}
