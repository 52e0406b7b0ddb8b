// Everything on the page that depends on the cycle shown.

let player = null;

function makePlayer(recording) {
  const stepper = makeStepper({ last: recording.cycles.length - 1, noun: 'cycle', show: () => drawPlayer() });
  const canvas = element('canvas', { id: 'array-canvas', role: 'img', tabindex: '0',
    'aria-label': 'The array of processing elements in one cycle', onkeydown: stepper.key });
  return { recording, canvas, stepper, counters: countersOverTime(recording.cycles), elements: new Map(), pass: -1 };
}

function drawPlayer() {
  if (!player) return;
  const { at } = player.stepper;
  const { cycles } = player.recording;
  const cycle = cycles[at];
  if (player.pass !== cycle.pass) {
    player.pass = cycle.pass;
    player.elements = new Map(player.recording.passes[cycle.pass].elements.map((its) => [its.number, its]));
  }
  drawArray(player, cycle);
  const passes = player.recording.passes.length;
  document.getElementById('cycle-number').textContent = `cycle ${at + 1} of ${cycles.length}`
    + (passes > 1 ? `, pass ${cycle.pass + 1} of ${passes}` : '');
  document.getElementById('now').textContent = cycleSentence(player, cycle);
  COUNTERS.forEach(([name]) => {
    document.getElementById(`counter-${name}`).textContent = player.counters[at][name].toLocaleString('en');
  });
  showOutput();
}

// The output in the buffer after the shown cycle; values written in it are highlighted.
function showOutput() {
  const shown = player.stepper.at;
  document.querySelectorAll('.matrix td').forEach((cell) => {
    cell.textContent = '·';
    cell.classList.remove('fresh', 'known');
  });
  player.recording.cycles.slice(0, shown + 1).forEach((cycle, at) => (cycle.writes ?? []).forEach(
    ([, image, filter, row, column, sum]) => {
      const cell = document.querySelector(`#output-${image}-${filter} [data-place="${row},${column}"]`);
      cell.textContent = sum;
      cell.classList.add('known');
      cell.classList.toggle('fresh', at === shown);
    }));
}
