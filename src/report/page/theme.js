// Light or dark theme: that of the system until the reader chooses one. Canvases do not follow style sheets, so drawing
// code gets its colours here and is notified when they change.

const themeWatchers = [];
const darkSystem = window.matchMedia('(prefers-color-scheme: dark)');
let chosenTheme = null;
let colourCache = new Map();

// The colour that page.css calls --name, as #rrggbb.
function colour(name) {
  if (!colourCache.has(name)) {
    const style = getComputedStyle(document.documentElement);
    colourCache.set(name, style.getPropertyValue(`--${name}`).trim());
  }
  return colourCache.get(name);
}

function faded(hexColour, opacity) {
  return hexColour + Math.round(255 * opacity).toString(16).padStart(2, '0');
}

function onThemeChange(watcher) {
  themeWatchers.push(watcher);
}

function wantedTheme() {
  return chosenTheme ?? (darkSystem.matches ? 'dark' : 'light');
}

function showTheme(name) {
  if (document.documentElement.dataset.theme === name) return;
  document.documentElement.dataset.theme = name;
  colourCache = new Map();
  themeWatchers.forEach((watcher) => watcher());
}

function themeButton() {
  const button = element('button', { type: 'button', id: 'theme', onclick: () => {
    chosenTheme = document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark';
    showTheme(chosenTheme);
  } });
  const label = () => {
    const other = document.documentElement.dataset.theme === 'dark' ? 'Light' : 'Dark';
    button.textContent = other;
    button.setAttribute('aria-label', `${other} colours`);
  };
  onThemeChange(label);
  label();
  return button;
}

function followTheme() {
  showTheme(wantedTheme());
  darkSystem.addEventListener('change', () => showTheme(wantedTheme()));
}
