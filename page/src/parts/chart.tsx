// One small chart: a figure, and how it went over the last minutes.

import { useEffect, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import { useCell } from "../cell.ts";
import { rates } from "../live_stats.ts";
import type { Name } from "../rates.ts";
import { shown } from "../theme.ts";

export interface ChartProps {
  title: string;
  unit: string;
  show: (value: number | null) => string;
  main: { name: Name; label: string };
  second?: { name: Name; label: string };
}

const height = 104;
const windowSeconds = 300;
const labelsWidth = 58; // of the figures at the side; more where one is longer
const colour = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

export function Chart({ title, unit, show, main, second }: ChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(undefined);
  const [cursor, setCursor] = useState<number | null>(null);
  const theme = useCell(shown);
  const figures = useCell(rates);
  const names = [main, ...(second ? [second] : [])];
  const data = (): uPlot.AlignedData => [figures.at, ...names.map(({ name }) => figures.columns[name])];

  useEffect(() => {
    const box = place.current!;
    const font = `11px ${getComputedStyle(document.body).fontFamily}`;
    const axis = {
      stroke: colour("--dim"),
      font,
      ticks: { show: false },
      grid: { stroke: colour("--line"), width: 1 },
    };
    const wide = (u: uPlot, labels: string[] | null) => {
      u.ctx.font = font;
      return Math.max(labelsWidth, ...(labels ?? []).map((label) => Math.ceil(u.ctx.measureText(label).width) + 10));
    };
    const line = (name: string, fill?: string): uPlot.Series => ({
      stroke: colour(name),
      width: 1.5,
      fill,
      points: { show: false },
      spanGaps: false,
    });
    plot.current = new uPlot(
      {
        width: box.clientWidth,
        height,
        legend: { show: false },
        padding: [6, 4, 0, 0],
        cursor: { y: false, drag: { setScale: false }, points: { size: 6 }, sync: { key: "figures" } },
        scales: {
          x: { range: (_, __, max) => [max - windowSeconds, max] },
          y: { range: (_, __, max) => [0, Math.max(max ?? 0, 1) * 1.1] },
        },
        axes: [
          {
            ...axis,
            size: 20,
            gap: 4,
            space: 44,
            incrs: [60, 120, 300, 600],
            grid: { show: false },
            values: (u, at) =>
              at.map((second) =>
                second - (u.scales.x?.min ?? 0) < 25 || (u.scales.x?.max ?? 0) - second < 20
                  ? ""
                  : new Date(second * 1000).toTimeString().slice(0, 5),
              ),
          },
          {
            ...axis,
            size: wide,
            gap: 6,
            space: 26,
            values: (_, at) => at.map((value) => show(value).replace(/\.0+(?= |$)/, "")),
          },
        ],
        series: [{}, line("--accent", colour("--accent-wash")), ...(second ? [line("--second")] : [])],
        hooks: { setCursor: [(u) => setCursor(u.cursor.idx ?? null)] },
      },
      data(),
      box,
    );
    const resized = new ResizeObserver(() => plot.current?.setSize({ width: box.clientWidth, height }));
    resized.observe(box);
    return () => {
      resized.disconnect();
      plot.current?.destroy();
    };
  }, [theme]);
  useEffect(() => plot.current?.setData(data()));

  const at = cursor ?? figures.at.length - 1;
  const value = (name: Name) => figures.columns[name][at] ?? null;
  const when = cursor === null ? undefined : figures.at[cursor];
  const said = names.map(({ name, label }) => `${label} ${show(value(name))}`).join(", ");
  return (
    <section class="chart">
      <header>
        <h2>{title}</h2>
        <p class="now">
          <b class="num">{show(value(main.name))}</b>{" "}
          {second ? <span class="dim">{main.label}</span> : <span class="dim">{unit}</span>}
          {second && (
            <span class="second">
              <b class="num">{show(value(second.name))}</b> {second.label}
            </span>
          )}
        </p>
        <p class="when num dim">{when ? new Date(when * 1000).toTimeString().slice(0, 8) : ""}</p>
      </header>
      <div
        ref={place}
        class="plot"
        role="img"
        aria-label={`${title} over the last minutes. Now: ${said}${second ? "" : ` ${unit}`}`}
      />
    </section>
  );
}
