/** CSS pixels that stay free above and beside what comes into sight. */
const ROOM = 24;

/** Scroll a box so that the first of these elements in it is seen; nothing around the box moves. */
export function reveal(box: HTMLElement | null, selector: string): void {
  const found = box?.querySelector(selector)?.getBoundingClientRect();
  if (!box || !found) return;
  const sight = box.getBoundingClientRect();
  if (found.top < sight.top || found.bottom > sight.bottom) box.scrollTop += found.top - sight.top - ROOM;
  if (found.left < sight.left || found.right > sight.right) box.scrollLeft += found.left - sight.left - ROOM;
}
