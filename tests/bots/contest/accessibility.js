// What the tests ask of every page, in the page itself.

// The number of texts, and those whose contrast is below that of WCAG AA, with their contrast.
const contrast = () => {
  const parse = text => (text.match(/[\d.]+/g) ?? []).map(Number);
  const paper = element => {
    for (; element; element = element.parentElement) {
      const [r, g, b, a = 1] = parse(getComputedStyle(element).backgroundColor);
      if (a === 1) return [r, g, b];
    }
    throw Error('no background');
  };
  const linear = c => c <= .04045 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4;
  const light = rgb => [.2126, .7152, .0722].reduce((sum, weight, i) => sum + weight * linear(rgb[i] / 255), 0);
  const ratio = (one, two) => (Math.max(one, two) + .05) / (Math.min(one, two) + .05);
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), low = [];
  let count = 0;
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !element.checkVisibility()) continue;
    if (element.closest('script, style, button:disabled')) continue;
    count++;
    const found = ratio(light(parse(getComputedStyle(element).color)), light(paper(element)));
    if (found < 4.5) low.push([element.outerHTML.slice(0, 90), found]);
  }
  return [count, low];
};

// What is wrong with the structure of the page.
const structure = () => {
  const all = query => [...document.querySelectorAll(query)], wrong = [];
  const expect = (good, what) => { if (!good) wrong.push(what); };
  expect(document.documentElement.lang === 'en', 'language');
  expect(document.title.trim(), 'title');
  expect(all('main').length === 1 && all('h1').length === 1, 'one main, one h1');
  let level = 1;
  all('h1, h2, h3, h4').forEach(heading => {
    const now = Number(heading.tagName[1]);
    expect(now <= level + 1, heading.outerHTML);
    level = now;
  });
  const headed = table => table.tHead && [...table.tHead.querySelectorAll('th')].every(
    th => th.scope === 'col' && th.textContent.trim());
  all('table').forEach(table => expect(headed(table), 'heads of ' + table.id));
  all('tbody tr').forEach(tr => expect(tr.querySelector('th[scope=row]'), tr.outerHTML.slice(0, 99)));
  all('input, select').forEach(e => expect(e.labels.length, e.outerHTML));
  all('a, button, summary').forEach(e => expect(e.textContent.trim(), e.outerHTML));
  const named = e => e.getAttribute('aria-label') || document.getElementById(e.getAttribute('aria-labelledby'));
  all('svg').forEach(e => expect(e.getAttribute('role') === 'img' && named(e) || e.closest('[aria-hidden]'), 'svg'));
  all('[role=region], nav').forEach(e => expect(named(e), e.outerHTML.slice(0, 99)));
  all('.wide').forEach(e => expect(e.tabIndex === 0, 'a box that scrolls is reached by keyboard'));
  all('[aria-describedby]').forEach(
    e => expect(document.getElementById(e.getAttribute('aria-describedby')), e.outerHTML.slice(0, 99)));
  const ids = all('[id]').map(e => e.id);
  expect(new Set(ids).size === ids.length, 'ids differ');
  return wrong;
};
