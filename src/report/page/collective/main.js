// The page of `lockstep bench --example`: the steps of a collective on small arrays.

function drawTimeline() {}  // printing.js calls it; this page has no timeline

function collectiveFooter(page) {
  return element('footer', {}, `Created ${page.made ?? ''} by Lockstep${page.version ? ` ${page.version}` : ''}. `
    + 'This file needs no network.');
}

// The figure of one step at a time on the screen, all of them on paper.
function stepsSection(page) {
  const figures = [startFigure(page), ...page.steps.map((_, at) => stepFigure(page, at))];
  const last = page.steps.length;
  const stepper = makeStepper({ last, noun: 'step', show: (at) => {
    figures.forEach((figure, number) => figure.classList.toggle('shown', number === at));
    document.getElementById('step-number').textContent = `step ${at} of ${last}`;
  } });
  document.addEventListener('keydown', (event) => {
    if (!event.target.closest('button, input, select, a, [tabindex]')) stepper.key(event);
  });
  return { stepper, section: section('steps', 'Step by step', [element('p', { class: 'lead' }, page.lead),
    stepper.controls,
    element('p', { class: 'hint' }, 'Framed: received in this step. Underlined: sent in this step. The darker a chunk, the '
      + 'more ranks are in its sum; bold: all of them.'),
    element('div', { id: 'figures', 'aria-live': 'polite' }, figures)]) };
}

function startPage() {
  const page = { runs: [], tables: [], ...JSON.parse(document.getElementById('page-data').textContent) };
  document.title = page.title ?? 'Lockstep bench';
  followTheme();
  const { stepper, section: steps } = stepsSection(page);
  document.getElementById('page').append(header(page), steps, tables(page), collectiveFooter(page));
  stepper.go(0);
  followPrinting();
}
