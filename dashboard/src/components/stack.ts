/** The bars of a stacked chart: `[x, y, width, height]` per series and value. */
export function stack(series: readonly (readonly number[])[], width: number, height: number): [number, number, number, number][][] {
  const count = series[0]?.length ?? 0;
  const totals = Array.from({ length: count }, (_, i) => series.reduce((sum, values) => sum + (values[i] ?? 0), 0));
  const scale = height / Math.max(1, ...totals);
  const step = width / Math.max(1, count);
  const gap = Math.min(2, step / 5);
  const tops = new Array<number>(count).fill(height);
  return series.map((values) =>
    values.map((value, i) => {
      const size = value * scale;
      tops[i] = tops[i]! - size;
      return [i * step + gap / 2, tops[i]!, step - gap, size];
    }),
  );
}
