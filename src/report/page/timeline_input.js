// Zooms and moves a timeline: wheel, pinch, drag, keys and buttons. `board` is its state, see timeline.js. All input ends
// in setView.

const CLOSEST_MICROSECONDS = 2;

function setView(board, start, end) {
  const { extent } = board;
  const length = Math.min(extent.end - extent.start, Math.max(CLOSEST_MICROSECONDS, end - start));
  const begin = Math.min(Math.max(extent.start, start), extent.end - length);
  board.view = { start: begin, end: begin + length };
  board.draw();
}

// Makes the view `factor` times as long. The time `about` stays where it is on the screen.
function zoom(board, factor, about) {
  const { start, end } = board.view;
  const centre = about ?? (start + end) / 2;
  setView(board, centre - (centre - start) * factor, centre + (end - centre) * factor);
}

// Moves the view by a fraction of its length.
function pan(board, fraction) {
  const { start, end } = board.view;
  const shift = fraction * (end - start);
  setView(board, start + shift, end + shift);
}

function resetView(board) {
  setView(board, board.extent.start, board.extent.end);
}

// The wheel scrolls the page until the timeline has the focus (after a click) or the control key is pressed. Browsers
// report a pinch on a touchpad as a wheel with the control key.
function onWheel(board, event) {
  if (!event.ctrlKey && document.activeElement !== board.canvas) return;
  const sideways = Math.abs(event.deltaX) > Math.abs(event.deltaY);
  const whole = board.view.start === board.extent.start && board.view.end === board.extent.end;
  if (!sideways && whole && event.deltaY > 0 && !event.ctrlKey) return;
  event.preventDefault();
  if (sideways) pan(board, event.deltaX / board.canvas.clientWidth);
  else zoom(board, Math.exp(Math.max(-120, Math.min(120, event.deltaY)) * (event.ctrlKey ? 0.01 : 0.003)),
    board.scale.time(event.offsetX));
}

const TIMELINE_KEYS = {
  '+': (board) => zoom(board, 0.7), '=': (board) => zoom(board, 0.7), '-': (board) => zoom(board, 1 / 0.7),
  ArrowLeft: (board) => pan(board, -0.15), ArrowRight: (board) => pan(board, 0.15),
  0: resetView, Home: resetView,
};

function onKey(board, event) {
  const act = Object.hasOwn(TIMELINE_KEYS, event.key) ? TIMELINE_KEYS[event.key] : null;
  if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  act(board);
}

// One finger or the mouse moves the view. Two fingers also zoom about the point between them.
function onMove(board, fingers, event) {
  const before = fingers.get(event.pointerId);
  if (!before) {
    board.point(event);
    return;
  }
  const others = [...fingers.entries()].filter(([id]) => id !== event.pointerId).map(([, x]) => x);
  fingers.set(event.pointerId, event.offsetX);
  board.point(null);
  if (others.length === 0) {
    pan(board, (before - event.offsetX) / (board.scale.width - board.scale.gutter));
    return;
  }
  const apart = (x) => Math.max(8, Math.abs(x - others[0]));
  zoom(board, apart(before) / apart(event.offsetX), board.scale.time((event.offsetX + others[0]) / 2));
}

function listenToTimeline(board) {
  const { canvas } = board;
  const fingers = new Map();
  const release = (event) => {
    fingers.delete(event.pointerId);
    canvas.classList.toggle('dragged', fingers.size > 0);
  };
  canvas.addEventListener('wheel', (event) => onWheel(board, event), { passive: false });
  canvas.addEventListener('keydown', (event) => onKey(board, event));
  canvas.addEventListener('dblclick', () => resetView(board));
  canvas.addEventListener('pointerdown', (event) => {
    canvas.setPointerCapture(event.pointerId);
    fingers.set(event.pointerId, event.offsetX);
    canvas.classList.add('dragged');
    board.point(event);
  });
  canvas.addEventListener('pointermove', (event) => onMove(board, fingers, event));
  canvas.addEventListener('pointerup', release);
  canvas.addEventListener('pointercancel', release);
  canvas.addEventListener('pointerleave', () => board.point(null));
}
