// measure.mjs: what is wrong with the page as it is drawn now, as a list of sentences. The function runs inside
// the page (check.mjs sends its text), so it must not use anything outside itself.
export function measure() {
  const faults = [];
  const shown = (element) => element.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true });
  const short = (element) => `<${element.localName} ${element.getAttribute("class") ?? ""}> "${element.textContent.trim().slice(0, 40)}"`;

  // Nothing wider than the screen, but for what scrolls inside its own frame.
  const width = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth > width)
    faults.push(`the page is ${document.documentElement.scrollWidth} px wide on a screen of ${width}`);
  const scrolls = (element) => {
    for (let at = element.parentElement; at; at = at.parentElement)
      if (["auto", "scroll", "hidden"].includes(getComputedStyle(at).overflowX) && at.getBoundingClientRect().right <= width + 1)
        return true;
    return false;
  };
  for (const element of document.body.querySelectorAll("*")) {
    const box = element.getBoundingClientRect();
    const outside = box.width && (box.right > width + 1 || box.left < -1);
    if (outside && shown(element) && !element.closest(".vh, .skip") && !scrolls(element))
      faults.push(`${short(element)} reaches from ${box.left.toFixed()} to ${box.right.toFixed()} px of ${width}`);
  }

  // Labels of a chart stay within it, apart from each other, and readable.
  for (const svg of document.querySelectorAll("svg")) {
    const frame = svg.getBoundingClientRect();
    if (!frame.width || !shown(svg)) continue;
    const unit = frame.width / svg.viewBox.baseVal.width;
    const labels = [...svg.querySelectorAll("text")].filter((text) => text.textContent.trim());
    const boxes = labels.map((text) => text.getBoundingClientRect());
    for (const [i, a] of boxes.entries()) {
      if (a.left < frame.left - 1 || a.right > frame.right + 1 || a.top < frame.top - 1 || a.bottom > frame.bottom + 1)
        faults.push(`${short(labels[i])} leaves its chart`);
      const size = parseFloat(getComputedStyle(labels[i]).fontSize) * unit;
      if (size < 10) faults.push(`${short(labels[i])} is ${size.toFixed(1)} px small`);
      for (let j = i + 1; j < boxes.length; j++) {
        const b = boxes[j];
        const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
        const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
        if (across > 1 && down > 3) faults.push(`${short(labels[i])} covers ${short(labels[j])}`);
      }
    }
  }

  // Contrast of text after WCAG 2.2, criterion 1.4.3; 4.5 everywhere, large text included.
  const parse = (colour) => colour.match(/[\d.]+/g).map(Number);
  const luminance = (colour) => {
    const [r, g, b] = parse(colour).map((part) => (part /= 255) <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    if (element.matches("text.on")) { // on a part of a bar: the rectangle of the same kind
      const kind = element.classList[1];
      const part = element.parentElement.querySelector(`rect.${kind}`);
      const fill = getComputedStyle(part).fill;
      if (fill !== "none") return fill;
    }
    for (let at = element; at; at = at.parentElement) {
      const colour = getComputedStyle(at).backgroundColor;
      if (parse(colour)[3] !== 0) return colour;
    }
    return "rgb(255, 255, 255)";
  };
  const seen = new Set();
  for (const element of document.body.querySelectorAll("*")) {
    const own = [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim());
    if (!own || element.matches("script, title, desc, .vh, .skip") || !shown(element)) continue;
    const style = getComputedStyle(element);
    const colour = element instanceof SVGElement ? style.fill : style.color;
    const pair = `${colour} on ${behind(element)}`;
    if (seen.has(pair)) continue;
    seen.add(pair);
    const [low, high] = [luminance(colour), luminance(behind(element))].sort((a, b) => a - b);
    const contrast = (high + 0.05) / (low + 0.05);
    if (contrast < 4.5) faults.push(`${short(element)}: contrast ${contrast.toFixed(2)} (${pair})`);
  }

  // The first screen answers: title, verdict, and the beginning of the key figures.
  if (width >= 1440 && !document.querySelector('details[open]')) {
    const card = document.querySelector(".card");
    if (card && card.getBoundingClientRect().top + scrollY > 900) faults.push("the key figures begin below the first screen");
  }
  return faults;
}
