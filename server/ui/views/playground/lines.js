/* Plots of the playground that are no plane: lines over one axis, and histograms. */
import { h } from '../../base/preact.js';
import { d3 } from '../../base/d3.js';
import { MARGIN, frame, xAxis, yAxis } from '../../parts/axes.js';
import { Figure } from '../../parts/figure.js';
import { Legend, colour } from '../../parts/palette.js';

const DASHES = [null, '7 4', '2 3', '10 3 2 3', '1 4'];

function scaleOf({ log, from, to }, values, range) {
    const possible = values.filter((v) => Number.isFinite(v) && (!log || v > 0));
    const [least, greatest] = d3.extent(possible);
    return (log ? d3.scaleLog() : d3.scaleLinear())
        .domain([from ?? least ?? 0, to ?? greatest ?? 1]).range(range);
}

function axisOptions({ label, log }, size) {
    return { label, grid: true, ...(log ? { ticks: Math.max(size / 120, 2), format: '~g' } : {}) };
}

/* As high as a plane of this width. */
const HEIGHT = (width) => Math.max(Math.min(width, 760) - 24, 200);

/* series: [{name, points: [[x, y]]}]; x, y: {label, log, from, to}; marks: [x]: dashed lines. */
export function Lines({ series, x, y, marks = [], ...figure }) {
    const draw = (svg, size) => {
        const inner = frame(svg, size, MARGIN);
        const all = series.flatMap((s) => s.points);
        const right = scaleOf(x, all.map((p) => p[0]), [0, inner.width]);
        const up = scaleOf(y, all.map((p) => p[1]), [inner.height, 0]);
        xAxis(inner, right, axisOptions(x, inner.width));
        yAxis(inner, up, axisOptions(y, inner.height));
        const line = d3.line().x((p) => right(p[0])).y((p) => up(p[1]));
        const id = `${figure.name}-clip`;
        inner.g.append('clipPath').attr('id', id).append('rect')
            .attr('width', inner.width).attr('height', inner.height);
        const lines = inner.g.append('g').attr('clip-path', `url(#${id})`);
        series.forEach((s, i) => lines.append('path').attr('class', 'play-line')
            .attr('stroke-dasharray', DASHES[i % DASHES.length]).style('stroke', colour(i))
            .attr('d', line(s.points.filter((p) => p.every(Number.isFinite) &&
                (!x.log || p[0] > 0) && (!y.log || p[1] > 0)))));
        marks.forEach((at) => inner.g.append('line').attr('class', 'play-mark')
            .attr('x1', right(at)).attr('x2', right(at)).attr('y2', inner.height));
    };
    const table = () => ({
        names: [x.label, y.label, 'line'],
        rows: series.flatMap((s) => s.points.map((p) => [...p, s.name])),
    });
    return h(Figure, { ...figure, height: HEIGHT, draw, table }, series.length > 1
        ? [h(Legend, { names: series.map((s) => s.name), line: true, dashes: DASHES })] : []);
}

/* edges: of the bins; counts: [class][bin]; classes: names; colours: their indices. */
export function Histogram({ edges, counts, classes, colours, ...figure }) {
    const draw = (svg, size) => {
        const inner = frame(svg, size, MARGIN);
        const right = d3.scaleLinear().domain([edges[0], edges[edges.length - 1]])
            .range([0, inner.width]);
        const up = d3.scaleLinear().domain([0, d3.max(counts.flat()) || 1]).nice()
            .range([inner.height, 0]);
        xAxis(inner, right, { label: 'projection' });
        yAxis(inner, up, { label: 'points', grid: true });
        counts.forEach((row, k) => row.forEach((n, i) => n > 0 && inner.g.append('rect')
            .attr('class', 'play-bar')
            .style('fill', colour(colours[k])).style('stroke', colour(colours[k]))
            .attr('x', right(edges[i]))
            .attr('width', Math.max(right(edges[i + 1]) - right(edges[i]), 1))
            .attr('y', up(n)).attr('height', inner.height - up(n))));
    };
    const table = () => ({
        names: ['from', 'to', ...classes],
        rows: counts[0].map((_, i) => [edges[i], edges[i + 1], ...counts.map((row) => row[i])]),
    });
    return h(Figure, { ...figure, height: HEIGHT, draw, table }, [
        h('div', { class: 'play-row' }, classes.map((name, k) =>
            h(Legend, { key: name, names: [name], first: colours[k] }))),
    ]);
}
