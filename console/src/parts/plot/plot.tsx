// A plot over time: bars or lines on a canvas, with a legend that tells the values below the pointer, and a table of all
// values for everybody who does not see the canvas. uPlot draws, and is loaded when the first plot is shown.

import { useEffect, useRef, useState } from "preact/hooks";
import type uPlot from "uplot";
import { theme } from "../../theme.ts";
import { axisWords, stacked } from "./scale.ts";

export type Tone = "good" | "warn" | "bad" | "accent" | "soft";

export interface PlotLine {
  label: string;
  tone: Tone;
  /** A value for each moment; null where there is none. */
  values: (number | null)[];
  dashed?: boolean;
}

interface PlotProps {
  title: string;
  /** What the plot tells, in a sentence or two. */
  summary: string;
  /** Moments in seconds since 1970, in equal steps. */
  at: number[];
  lines: PlotLine[];
  /** Bars are put on top of each other. */
  kind: "bars" | "lines";
  /** The values are counts, so the axis has no fractions. */
  whole?: boolean;
  format: (value: number) => string;
  /** A moment in words. */
  moment: (seconds: number) => string;
}

const HEIGHT = 180;
/** The increments of an axis of counts. */
const WHOLE = Array.from({ length: 10 }, (_, power) => [1, 2, 5].map((it) => it * 10 ** power)).flat();

export function Plot({ title, summary, at, lines, kind, whole = false, format, moment }: PlotProps) {
  const [pointed, setPointed] = useState<number | null>(null);
  const index = pointed !== null && pointed < at.length ? pointed : null;
  return (
    <figure class="plot">
      <figcaption>
        <h3>{title}</h3>
        <p class="soft small">{summary}</p>
        <ul class="plot-legend">
          {lines.map((it) => (
            <li key={it.label}>
              <span class={`swatch ${it.tone} ${it.dashed === true ? "dashed" : ""}`} />
              {it.label}
              {index === null ? null : <strong>{valueWords(it.values[index], format)}</strong>}
            </li>
          ))}
          {index === null ? null : <li class="soft">{moment(at[index] ?? 0)}</li>}
        </ul>
      </figcaption>
      <Canvas {...{ title, summary, at, lines, kind, whole, format }} onPoint={setPointed} />
      <details>
        <summary>Values</summary>
        <Values {...{ title, at, lines, format, moment }} />
      </details>
    </figure>
  );
}

function valueWords(value: number | null | undefined, format: (value: number) => string): string {
  return value === null || value === undefined ? "–" : format(value);
}

type CanvasProps = Pick<PlotProps, "title" | "summary" | "at" | "lines" | "kind" | "format"> & { whole: boolean; onPoint: (index: number | null) => void };

function Canvas(props: CanvasProps) {
  const place = useRef<HTMLDivElement>(null);
  const drawn = useRef<uPlot | null>(null);
  const latest = useRef(props);
  latest.current = props;
  const [isMissing, setMissing] = useState(false);
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    let isGone = false;
    const resized = new ResizeObserver(() => drawn.current?.setSize({ width: element.clientWidth, height: HEIGHT }));
    import("uplot").then(
      ({ default: Plotter }) => {
        if (isGone) return;
        drawn.current = new Plotter(optionsOf(Plotter, element, latest), dataOf(latest.current), element);
        resized.observe(element);
      },
      () => isGone || setMissing(true),
    );
    const dark = matchMedia("(prefers-color-scheme: dark)");
    // The colours are read again at each drawing.
    const redraw = () => drawn.current?.redraw(false, true);
    dark.addEventListener("change", redraw);
    const unsubscribe = theme.subscribe(() => queueMicrotask(redraw));
    return () => {
      isGone = true;
      resized.disconnect();
      dark.removeEventListener("change", redraw);
      unsubscribe();
      drawn.current?.destroy();
      drawn.current = null;
    };
  }, []);
  useEffect(() => {
    drawn.current?.setData(dataOf(props));
  }, [props.at, props.lines]);
  if (isMissing) return <p class="notice warn small">The drawing could not be loaded. The values are below.</p>;
  return <div class="plot-canvas" ref={place} role="img" aria-label={`${props.title}. ${props.summary}`} />;
}

function dataOf({ at, lines, kind }: CanvasProps): uPlot.AlignedData {
  const values = lines.map((it) => it.values);
  return [at, ...(kind === "bars" ? stacked(values) : values)] as uPlot.AlignedData;
}

/** The present colour of a token. A canvas does not know custom properties, so an element is asked. */
function colour(element: HTMLElement, name: Tone | "line" | "text"): string {
  const probe = document.createElement("span");
  probe.className = `swatch ${name}`;
  element.append(probe);
  const found = getComputedStyle(probe).backgroundColor;
  probe.remove();
  return found;
}

function optionsOf(Plotter: typeof uPlot, element: HTMLElement, latest: { current: CanvasProps }): uPlot.Options {
  const { kind, lines, whole } = latest.current;
  const bars = Plotter.paths.bars?.({ size: [0.8, 28] });
  const series = lines.map((line): uPlot.Series => {
    const own = () => colour(element, line.tone);
    if (kind === "bars") return { stroke: own, fill: own, width: 0, points: { show: false }, ...(bars === undefined ? {} : { paths: bars }) };
    // Points show values that have no neighbours.
    return { stroke: own, width: 1.5, spanGaps: false, points: { show: true, size: 5, fill: own }, ...(line.dashed === true ? { dash: [5, 4] } : {}) };
  });
  const axis = {
    stroke: () => colour(element, "text"),
    grid: { stroke: () => colour(element, "line"), width: 1 },
    ticks: { stroke: () => colour(element, "line"), width: 1 },
    font: `12px ${getComputedStyle(element).fontFamily}`,
  };
  return {
    width: element.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    cursor: { drag: { x: false, y: false }, points: { show: false }, y: false },
    scales: {
      // Half a step on both sides, so that the first and the last bar are whole.
      x: { time: true, range: (_, from, to) => around(from, to, latest.current.at) },
      y: { range: (_, __, most) => [0, most > 0 ? most * 1.1 : 1] },
    },
    axes: [
      { ...axis, values: (_, splits, __, ___, increment) => splits.map((it) => axisWords(it, increment)) },
      { ...axis, size: 60, values: (_, splits) => splits.map((it) => latest.current.format(it)), ...(whole ? { incrs: WHOLE } : {}) },
    ],
    series: [{}, ...series],
    hooks: { setCursor: [(plot) => latest.current.onPoint(plot.cursor.idx ?? null)] },
  };
}

function around(from: number, to: number, at: number[]): [number, number] {
  const half = at.length > 1 ? ((at[1] ?? 0) - (at[0] ?? 0)) / 2 : 30;
  return [from - half, to + half];
}

/** The values as a table, the latest first. Moments without any value are left out. */
function Values({ title, at, lines, format, moment }: Pick<PlotProps, "title" | "at" | "lines" | "format" | "moment">) {
  const rows = at.map((_, index) => index).filter((index) => lines.some((it) => (it.values[index] ?? 0) !== 0));
  if (rows.length === 0) return <p class="soft">There are no values.</p>;
  return (
    <div class="scroll plot-values" tabIndex={0} role="region" aria-label={`Values: ${title}`}>
      <table>
        <thead>
          <tr>
            <th scope="col">Time</th>
            {lines.map((it) => (
              <th scope="col" class="number" key={it.label}>
                {it.label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.toReversed().map((index) => (
            <tr key={at[index]}>
              <th scope="row">{moment(at[index] ?? 0)}</th>
              {lines.map((it) => (
                <td class="number" key={it.label}>
                  {valueWords(it.values[index], format)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
