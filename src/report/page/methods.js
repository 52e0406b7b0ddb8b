// A description of each sync method, with its predicted and its measured cost.

function methodCard(method) {
  const tint = runColour(method.name);
  return element('article', { class: 'method' }, [
    element('h3', {}, tint ? [swatch(tint), method.name] : method.name),
    method.what ? element('p', {}, unbroken(method.what)) : null,
    definitions({}, [['Cost', method.formula], ['Predicted', unbroken(method.predicted ?? '')],
      ['Measured', unbroken(method.measured ?? '')]])]);
}

function methodsSection(page) {
  if (page.methods.length === 0) return null;
  return section('methods', 'Sync methods', [
    element('p', { class: 'lead' },
      'W is the number of workers, n the bytes of all gradients, P the number of parameters.'),
    element('div', { class: 'methods' }, page.methods.map(methodCard))]);
}
