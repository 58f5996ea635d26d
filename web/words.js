// The words of the interface in the page's language, from the template that the server sent with it.
const known = new Map();
for (const p of document.getElementById('words').content.querySelectorAll('p')) known.set(p.dataset.key, p.textContent);

/** The words for a key, with {name} filled in from values. */
export function say(key, values = {}) {
  return (known.get(key) ?? key).replace(/\{(\w+)\}/g, (all, name) => values[name] ?? all);
}

/** A number as the page's language writes it. */
export const number = n => new Intl.NumberFormat(document.documentElement.lang).format(n);

/** Makes an element: make('button', {class: 'quiet', type: 'button'}, 'text', child, ...). */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}
