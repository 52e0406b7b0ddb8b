// The list of runs: the first page of `lockstep watch`.

function showRuns(place, list) {
  if (list.runs.length === 0) {
    updateContent(place, [element('p', { class: 'lead', id: 'waiting' },
      `No run yet in ${listing(list.folders)}. Runs appear here when they begin.`)]);
    return;
  }
  updateContent(place, [runTable(list.runs), list.left_out > 0
    ? element('p', { class: 'lead' }, `${plural(list.left_out, 'older run')} not shown.`) : null]);
}

function startPage() {
  const { list } = JSON.parse(document.getElementById('page-data').textContent);
  document.title = 'Runs – Lockstep';
  followTheme();
  const place = element('section', { id: 'runs', 'aria-label': 'Runs' });
  const problem = problemLine();
  document.getElementById('page').append(element('header', {}, [
    element('div', { class: 'bar' }, [element('span', { class: 'brand' }, [brandMark(), 'Lockstep']), themeButton()]),
    element('h1', {}, 'Runs')]), problem, place);
  showRuns(place, list);
  follow('/runs.json', (fresh) => showRuns(place, fresh), problem);
}
