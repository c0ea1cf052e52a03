/** Styles that only some screens need. */

declare const STYLES: Readonly<Record<string, string>>;

/** Add `src/styles/NAME.css`. A page without them is better than none, so it never fails. */
export function addStyles(name: string): Promise<void> {
  const link = document.createElement("link");
  link.rel = "stylesheet";
  link.href = new URL(`assets/${STYLES[name]}`, document.baseURI).href;
  return new Promise((resolve) => {
    link.onload = link.onerror = () => resolve();
    document.head.append(link);
  });
}
