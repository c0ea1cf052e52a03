/** Small charts in SVG; attributes and classes only, as the content security policy wants it. */

import { useId } from "preact/hooks";
import { stack } from "./stack.ts";

const WIDTH = 600;

export interface Series {
  label: string;
  tone: "good" | "bad" | "warning" | "active" | "waiting" | "neutral";
  values: readonly number[];
}

interface BarsProps {
  /** What it shows, with its figures, for those who cannot see it. */
  label: string;
  /** Bottom to top. All have the same number of values. */
  series: readonly Series[];
  /** The title of each bar, shown on hover: its time and values. */
  titles: readonly string[];
  height?: number;
  /** The value of the tallest bar, written at the top. */
  top?: string;
  /** Labels below, from the first to the last bar. */
  axis?: readonly string[];
}

export function StackedBars({ label, series, titles, height = 120, top, axis }: BarsProps) {
  const id = useId();
  const bars = stack(series.map(({ values }) => values), WIDTH, height);
  const step = WIDTH / Math.max(1, titles.length);
  return (
    <figure class="chart">
      {top !== undefined && <span class="chart-top" aria-hidden="true">{top}</span>}
      <svg viewBox={`0 0 ${WIDTH} ${height}`} preserveAspectRatio="none" role="img" aria-labelledby={id}>
        <title id={id}>{label}</title>
        {bars.map((boxes, i) => (
          <g key={series[i]!.label} class={series[i]!.tone}>
            {boxes.map(([x, y, width, size], k) => size > 0 && <rect key={k} x={x} y={y} width={width} height={size} />)}
          </g>
        ))}
        {titles.map((title, i) => (
          <rect key={i} class="hit" x={i * step} y={0} width={step} height={height}><title>{title}</title></rect>
        ))}
      </svg>
      {axis && <div class="chart-axis" aria-hidden="true">{axis.map((text, i) => <span key={i}>{text}</span>)}</div>}
      <figcaption>
        {series.map(({ label, tone }) => <span key={label} class={`legend ${tone}`}>{label}</span>)}
      </figcaption>
    </figure>
  );
}

/** A line without axes, beside a number. */
export function Sparkline({ values, label }: { values: readonly number[]; label: string }) {
  const most = Math.max(1, ...values);
  const step = 100 / Math.max(1, values.length - 1);
  const points = values.map((value, i) => `${(i * step).toFixed(1)},${(23 - (value / most) * 22).toFixed(1)}`);
  return (
    <svg class="sparkline" viewBox="0 0 100 24" preserveAspectRatio="none" role="img" aria-label={label}>
      <polyline points={points.join(" ")} />
    </svg>
  );
}

/** Parts of a whole in one line: `[label, tone, count]`. */
export function ShareBar({ parts, label }: { parts: readonly (readonly [string, Series["tone"], number])[]; label: string }) {
  const total = Math.max(1, parts.reduce((sum, [, , count]) => sum + count, 0));
  let x = 0;
  return (
    <svg class="share-bar" viewBox="0 0 100 4" preserveAspectRatio="none" role="img" aria-label={label}>
      {parts.map(([name, tone, count]) => {
        const width = (count / total) * 100;
        const at = x;
        x += width;
        return width > 0 && <rect key={name} class={tone} x={at} y={0} width={width} height={4}><title>{name}</title></rect>;
      })}
    </svg>
  );
}
