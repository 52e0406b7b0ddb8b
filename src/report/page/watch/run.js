// The page of a run, or of the runs of a study, that follows its files: a bar with their state on top, and charts that
// are redrawn when there are new measurements. If there is more to show than that, as at the end of a run, the page is
// loaded again.

const SWITCHES = `switches of ${window.location.pathname}`;

// What the reader has chosen survives loading again.
function saveSwitches() {
  sessionStorage.setItem(SWITCHES, JSON.stringify({ theme: chosenTheme, ranks: curveView.ranks,
    hidden: [...curveView.hidden], logarithmic: timeView.logarithmic }));
}

function restoreSwitches() {
  const saved = JSON.parse(sessionStorage.getItem(SWITCHES) ?? 'null');
  sessionStorage.removeItem(SWITCHES);
  if (!saved) return;
  chosenTheme = saved.theme;
  showTheme(wantedTheme());
  curveView.ranks = saved.ranks;
  curveView.hidden = new Set(saved.hidden);
  curvesChanged();
  if (saved.logarithmic) [...document.querySelectorAll('#time button[aria-pressed]')][0]?.click();
}

// What decides which sections and charts the page has.
function structureOf(page) {
  const lengths = (records) => records.map((record) => [record.rank, record.loss.length > 1]);
  return JSON.stringify([page.kind, page.tables.map((table) => [table.title, table.columns]),
    page.runs.map((run) => [run.name, run.summary !== null, run.stopped?.why, run.test !== null, run.timeline !== null,
      run.post_mortem !== null, lengths(run.iterations), lengths(run.epochs)])]);
}

function showFreshNotes(page) {
  const [old, made] = [document.getElementById('notes'), notes(page)];
  if (old && made) old.replaceWith(made);
  else if (made) document.querySelector('main > section').before(made);
}

function showFreshTables(tables) {
  fittedTables.forEach((its) => {
    const fresh = tables.find((table) => table.title === its.table.title);
    if (!fresh || JSON.stringify(fresh.rows) === JSON.stringify(its.table.rows)) return;
    Object.assign(its.table, fresh);
    its.fit();
  });
}

// Shows new data of the same structure. Tables and charts read their data each time they are drawn.
function showFresh(page, fresh) {
  const newNotes = JSON.stringify(page.notes) !== JSON.stringify(fresh.notes);
  fresh.runs.forEach((run, index) => Object.assign(page.runs[index], run));
  Object.assign(page, fresh, { runs: page.runs });
  if (newNotes) showFreshNotes(page);
  showFreshTables(fresh.tables);
  drawAllCharts();
}

function stateBar(run) {
  return [element('a', { href: '/' }, 'All runs'), stateMark(run), progressBar(run),
    element('span', {}, progressText(run)),
    ...runFigures(run).map(([name, value, unit]) =>
      element('span', { class: name }, [element('b', {}, value), ` ${unit}`]))];
}

function showState(bar, members, state) {
  document.body.dataset.state = state.state;
  updateContent(bar, stateBar(state));
  updateContent(members, [state.runs ? runTable(state.runs) : rankTable(state)]);
}

// Asks for the page's data at most a tenth of the time: the training needs the cores that make them.
function followPage(page) {
  let [version, next] = [page.watch.version, 0];
  return async (state) => {
    if (state.version === version || performance.now() < next) return;
    const begin = performance.now();
    const fresh = await getJson('page.json');
    next = performance.now() + 9 * (performance.now() - begin);
    version = state.version;
    if (structureOf(fresh) === structureOf(page)) {
      showFresh(page, fresh);
      return;
    }
    saveSwitches();
    window.location.reload();
  };
}

function followRun(page) {
  const bar = element('div', { class: 'live' });
  const members = element('div', { class: 'members' });
  const problem = problemLine();
  document.getElementById('page').prepend(bar, problem);
  document.querySelector('header').after(members);
  document.querySelector('footer').textContent = 'Charts by Chart.js (MIT licence).';
  showState(bar, members, page.watch);
  restoreSwitches();
  const update = followPage(page);
  follow('state.json', async (state) => {
    showState(bar, members, state);
    await update(state);
  }, problem);
}
