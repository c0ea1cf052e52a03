/** Moves between the rows of a table, for its keys and those of the page. */

/** Focus the row that is `step` rows from the focused one; the first or last if none is. */
export function moveFocus(table: HTMLTableElement, step: number): void {
  const links = [...table.querySelectorAll<HTMLElement>(".row-link")];
  const row = document.activeElement?.closest("tr");
  const at = links.findIndex((link) => link.closest("tr") === row);
  const to = at < 0 ? (step > 0 ? 0 : links.length - 1) : at + step;
  links[Math.max(0, Math.min(links.length - 1, to))]?.focus();
}
