// The page from top to bottom. Sections without data are left out.

// The data of the page. Missing lists become empty ones.
function readPage() {
  const page = JSON.parse(document.getElementById('page-data').textContent);
  const list = (value) => (Array.isArray(value) ? value : []);
  return { ...page, runs: list(page.runs), tables: list(page.tables), notes: list(page.notes),
    methods: list(page.methods) };
}

function contents(sections) {
  const links = sections.map((its) => element('a', { href: `#${its.id}` }, its.querySelector('h2').textContent));
  return links.length > 1 ? element('nav', { 'aria-label': 'Sections' }, links) : null;
}

function footer(page) {
  const made = page.made ? `Created ${page.made}` : 'Created';
  return element('footer', {}, `${made} by Lockstep${page.version ? ` ${page.version}` : ''}. `
    + 'This file needs no network. Charts by Chart.js (MIT licence).');
}

function startPage() {
  const page = readPage();
  document.title = page.title ?? 'Lockstep report';
  assignColours(page.runs);
  followTheme();
  const top = header(page);
  const sections = [postMortemSection(page), notes(page), tables(page), methodBarsSection(page),
    scalingSection(page), learningSection(page), timeSection(page), timelineSection(page), methodsSection(page),
    configurationSection(page)].filter((its) => its);
  top.append(...[contents(sections)].filter((its) => its));
  document.getElementById('page').append(...[top, keyFigures(page), ...sections, footer(page)].filter((its) => its));
  drawAllCharts();
  drawTimeline();
  onThemeChange(() => {
    drawAllCharts();
    drawTimeline();
  });
  followPrinting();
  if (page.watch) followRun(page);  // watch/run.js, on pages of `lockstep watch`
  if (page.export !== 'pictures') return;
  addPictures([...allCharts.map((entry) => ({ title: entry.title, draw: () => chartPicture(entry) })),
    ...boards.map((its) => ({ title: its.title, draw: () => timelinePicture(its) }))]);
}
