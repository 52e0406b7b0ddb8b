// Charts as pictures to take away: PNG files with title, legend and caption, in light colours.

const PICTURE_DENSITY = 2;
const PICTURE_MARGIN = 24;

// The words of a text in lines of at most `width` pixels.
function wrapText(context, text, width) {
  const lines = [];
  for (const word of text.split(/ +/).filter((its) => its)) {
    const longer = lines.length > 0 ? `${lines[lines.length - 1]} ${word}` : word;
    if (lines.length > 0 && context.measureText(longer).width <= width) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

// The places of a legend's keys, line by line.
function placeKeys(context, keys, width) {
  let [x, row] = [0, 0];
  return keys.map((key) => {
    const room = context.measureText(key.label).width + 50;
    if (x > 0 && x + room > width) [x, row] = [0, row + 1];
    const place = { key, x, row };
    x += room;
    return place;
  });
}

function drawKey(context, { key, x, row }, top) {
  const middle = top + 20 * row + 8;
  if (key.line) {
    context.strokeStyle = key.fill;
    context.lineWidth = 2.5;
    context.setLineDash(key.dash ?? []);
    context.beginPath();
    context.moveTo(x, middle);
    context.lineTo(x + 24, middle);
    context.stroke();
  } else {
    context.fillStyle = key.fill;
    context.fillRect(x, middle - 6, 24, 12);
  }
  context.fillStyle = colour('ink');
  context.fillText(key.label, x + 30, middle);
}

// A canvas with the title, the keys {label, fill, line, dash}, a drawing of `width` by `height` and the caption.
function composePicture({ title, keys, caption, width, height, draw }) {
  const picture = element('canvas');
  const context = picture.getContext('2d');
  const family = getComputedStyle(document.body).fontFamily;
  const text = `13px ${family}`;
  context.font = text;
  const places = placeKeys(context, keys, width);
  const lines = wrapText(context, caption ?? '', width);
  const keysTop = 36;
  const drawingTop = keysTop + (places.length > 0 ? 20 * (places[places.length - 1].row + 1) + 10 : 0);
  const total = drawingTop + height + (lines.length > 0 ? 12 + 18 * lines.length : 0);
  picture.width = PICTURE_DENSITY * (width + 2 * PICTURE_MARGIN);
  picture.height = PICTURE_DENSITY * Math.ceil(total + 2 * PICTURE_MARGIN);
  context.scale(PICTURE_DENSITY, PICTURE_DENSITY);
  context.fillStyle = colour('card');
  context.fillRect(0, 0, picture.width, picture.height);
  context.translate(PICTURE_MARGIN, PICTURE_MARGIN);
  context.textBaseline = 'middle';
  context.fillStyle = colour('ink');
  context.font = `600 17px ${family}`;
  context.fillText(title, 0, 10, width);
  context.font = text;
  places.forEach((place) => drawKey(context, place, keysTop));
  context.fillStyle = colour('muted');
  lines.forEach((line, index) => context.fillText(line, 0, drawingTop + height + 20 + 18 * index));
  context.translate(0, drawingTop);
  context.beginPath();
  context.rect(0, 0, width, height);
  context.clip();
  draw(context);
  return picture;
}

// The keys of a chart's data sets. A single one needs none.
function keysOfChart({ chart }) {
  const line = chart.config.type === 'line';
  const shown = chart.data.datasets.filter((set) => !set.hidden && set.label !== 'dots' && set.showLine !== false);
  return shown.length < 2 ? [] : shown.map((set) =>
    ({ label: set.label, line, fill: line ? set.borderColor : set.backgroundColor, dash: set.borderDash }));
}

function chartPicture(entry) {
  const { chart, width } = entry;
  const { height } = chart;
  entry.density = PICTURE_DENSITY;
  drawChart(entry);
  chart.resize(width, height);
  const picture = composePicture({ title: entry.title, keys: keysOfChart(entry), caption: entry.caption.textContent,
    width, height, draw: (context) => context.drawImage(entry.canvas, 0, 0, width, height) });
  entry.density = undefined;
  drawChart(entry);
  chart.resize();
  return picture;
}

function inLightColours(make) {
  const shown = document.documentElement.dataset.theme;
  showTheme('light');
  const made = make();
  showTheme(shown);
  return made;
}

// For the program, which reads them from the document: all charts of the page, each on a line with its name and base64.
function addPictures(drawings) {
  const lines = drawings.map(({ title, draw }) => `${fileNameOf(title)} ${draw().toDataURL('image/png').split(',')[1]}`);
  document.body.append(element('script', { type: 'text/plain', id: 'pictures' }, lines.join('\n')));
}

function pictureButton(title, make) {
  return element('button', { type: 'button', class: 'small', 'aria-label': `Save the chart “${title}” as PNG`,
    onclick: () => inLightColours(make).toBlob((blob) => saveFile(`${fileNameOf(title)}.png`, blob), 'image/png') }, 'PNG');
}
