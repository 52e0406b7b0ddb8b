// Buttons, a slider and keys that step and play through numbered states.

// States are numbered from 0 to `last`; `show` draws one. `noun` names a state in labels: "cycle".
function makeStepper({ last, noun, show }) {
  const stepper = { at: 0, timer: null, perSecond: 2 };
  const button = (id, text, label, press) => element('button', { type: 'button', id, 'aria-label': label,
    onclick: press }, text);
  const playButton = button('play', 'Play', 'Play or pause', () => toggle());
  const slider = element('input', { type: 'range', id: 'slider', min: 0, max: last, value: 0,
    'aria-label': `${noun[0].toUpperCase()}${noun.slice(1)}`, oninput: () => { pause(); go(Number(slider.value)); } });

  function go(at) {
    stepper.at = Math.max(0, Math.min(last, at));
    slider.value = stepper.at;
    show(stepper.at);
  }

  function pause() {
    if (stepper.timer !== null) clearInterval(stepper.timer);
    stepper.timer = null;
    playButton.textContent = 'Play';
  }

  function play() {
    if (stepper.at === last) go(0);
    playButton.textContent = 'Pause';
    stepper.timer = setInterval(() => {
      go(stepper.at + 1);
      if (stepper.at === last) pause();
    }, 1000 / stepper.perSecond);
  }

  function toggle() {
    if (stepper.timer === null) play();
    else pause();
  }

  function step(by) {
    pause();
    go(stepper.at + by);
  }

  stepper.go = go;
  stepper.key = (event) => {
    const actions = { ArrowRight: () => step(1), ArrowLeft: () => step(-1), ' ': toggle, Home: () => step(-Infinity),
      End: () => step(Infinity) };
    if (!actions[event.key]) return;
    event.preventDefault();
    actions[event.key]();
  };
  const speed = select('Speed', [['1', '1 per second'], ['2', '2 per second'], ['8', '8 per second'], ['30', '30 per second']],
    '2', (value) => {
      stepper.perSecond = Number(value);
      if (stepper.timer !== null) { pause(); play(); }
    });
  stepper.controls = element('div', { class: 'tools player' }, [
    element('span', { class: 'zoom' }, [
      button('first', 'First', `First ${noun}`, () => step(-Infinity)),
      button('back', 'Back', `One ${noun} back`, () => step(-1)),
      playButton,
      button('step', 'Step', `One ${noun} forward`, () => step(1)),
      button('last', 'Last', `Last ${noun}`, () => step(Infinity))]),
    slider, element('span', { class: 'range', id: `${noun}-number` }), speed]);
  return stepper;
}
