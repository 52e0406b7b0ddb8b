// Stepping and playing: which cycle is shown, and the controls that change it.

let player = null;

function makePlayer(recording) {
  const canvas = element('canvas', { id: 'array-canvas', role: 'img', tabindex: '0',
    'aria-label': 'The array of processing elements in one cycle', onkeydown: playerKey });
  return { recording, canvas, at: 0, timer: null, perSecond: 2, counters: countersOverTime(recording.cycles),
    elements: new Map(), pass: -1 };
}

function lastCycle() {
  return player.recording.cycles.length - 1;
}

function showCycle(at) {
  player.at = Math.max(0, Math.min(lastCycle(), at));
  drawPlayer();
}

function step(by) {
  pause();
  showCycle(player.at + by);
}

function pause() {
  if (player.timer !== null) clearInterval(player.timer);
  player.timer = null;
  document.getElementById('play').textContent = 'Play';
}

function play() {
  if (player.at === lastCycle()) showCycle(0);
  document.getElementById('play').textContent = 'Pause';
  player.timer = setInterval(() => {
    showCycle(player.at + 1);
    if (player.at === lastCycle()) pause();
  }, 1000 / player.perSecond);
}

function togglePlay() {
  if (player.timer === null) play();
  else pause();
}

function playerKey(event) {
  const actions = { ArrowRight: () => step(1), ArrowLeft: () => step(-1), ' ': togglePlay, Home: () => step(-Infinity),
    End: () => step(Infinity) };
  if (!actions[event.key]) return;
  event.preventDefault();
  actions[event.key]();
}

function playerControls() {
  const button = (id, text, label, press) => element('button', { type: 'button', id, 'aria-label': label,
    onclick: press }, text);
  const slider = element('input', { type: 'range', id: 'slider', min: 0, max: lastCycle(), value: 0,
    'aria-label': 'Cycle', oninput: () => { pause(); showCycle(Number(slider.value)); } });
  const speed = select('Speed', [['1', '1 per second'], ['2', '2 per second'], ['8', '8 per second'], ['30', '30 per second']],
    '2', (value) => {
      player.perSecond = Number(value);
      if (player.timer !== null) { pause(); play(); }
    });
  return element('div', { class: 'tools player' }, [
    element('span', { class: 'zoom' }, [
      button('first', 'First', 'First cycle', () => step(-Infinity)),
      button('back', 'Back', 'One cycle back', () => step(-1)),
      button('play', 'Play', 'Play or pause', togglePlay),
      button('step', 'Step', 'One cycle forward', () => step(1)),
      button('last', 'Last', 'Last cycle', () => step(Infinity))]),
    slider, element('span', { class: 'range', id: 'cycle-number' }), speed]);
}

// Everything that depends on the cycle shown.
function drawPlayer() {
  if (!player) return;
  const cycle = player.recording.cycles[player.at];
  if (player.pass !== cycle.pass) {
    player.pass = cycle.pass;
    player.elements = new Map(player.recording.passes[cycle.pass].elements.map((its) => [its.number, its]));
  }
  drawArray(player, cycle);
  const passes = player.recording.passes.length;
  document.getElementById('slider').value = player.at;
  document.getElementById('cycle-number').textContent = `cycle ${player.at + 1} of ${lastCycle() + 1}`
    + (passes > 1 ? `, pass ${cycle.pass + 1} of ${passes}` : '');
  document.getElementById('now').textContent = cycleSentence(player, cycle);
  COUNTERS.forEach(([name]) => {
    document.getElementById(`counter-${name}`).textContent = player.counters[player.at][name].toLocaleString('en');
  });
  showOutput();
}

// The output in the buffer after the shown cycle; values written in it are highlighted.
function showOutput() {
  document.querySelectorAll('.matrix td').forEach((cell) => {
    cell.textContent = '·';
    cell.classList.remove('fresh', 'known');
  });
  player.recording.cycles.slice(0, player.at + 1).forEach((cycle, at) => (cycle.writes ?? []).forEach(
    ([, image, filter, row, column, sum]) => {
      const cell = document.querySelector(`#output-${image}-${filter} [data-place="${row},${column}"]`);
      cell.textContent = sum;
      cell.classList.add('known');
      cell.classList.toggle('fresh', at === player.at);
    }));
}
