/* Plots of a training: what each iteration reported, and the learning curve. */
import { Component, h } from '../../base/preact.js';
import { d3 } from '../../base/d3.js';
import { number } from '../../base/format.js';
import { setQuery } from '../../base/place.js';
import { frame, labelRoom, xAxis, yAxis } from '../../parts/axes.js';
import { Check, Choice } from '../../parts/fields.js';
import { Figure } from '../../parts/figure.js';
import { METRICS, metricLabel } from '../../parts/metrics.js';
import { Legend, colour, symbol } from '../../parts/palette.js';

const MOST_POINTS = 1500;
const HEIGHT = 240;

const CURVES = [
    { member: 'loss', label: 'Loss', text: 'What the training makes as small as possible.' },
    {
        member: 'gradient_norm', label: 'Gradient', log: true,
        text: 'How far it is from the smallest loss: 0 at the end.',
    },
    {
        member: 'train_error', label: 'Training error', share: true,
        text: 'Share of the training rows with a wrong label.',
    },
];

/* Splits points where x does not grow: there the next machine begins. */
function segments(points) {
    const result = [];
    points.forEach((point, i) => {
        if (i === 0 || point.x <= points[i - 1].x) {
            result.push([]);
        }
        result[result.length - 1].push(point);
    });
    return result;
}

/* At most MOST_POINTS of the points, evenly, with the last one. */
function thinned(points) {
    const step = Math.ceil(points.length / MOST_POINTS);
    return points.filter((point, i) => i % step === 0 || i === points.length - 1);
}

function drawEmpty(svg, { width, height }, text) {
    svg.append('text').attr('class', 'axis-label').attr('x', width / 2).attr('y', height / 2)
        .attr('text-anchor', 'middle').text(text);
}

/* The scale of y over the points. Without a range d3 would draw at NaN: it is widened. */
function yScale(points, log) {
    const [low, high] = d3.extent(points, (point) => point.y);
    const pad = low === high ? Math.abs(low) * 0.1 || 1 : 0;
    return log ? d3.scaleLog().domain([low / (pad ? 2 : 1), high * (pad ? 2 : 1)])
        .nice()
        : d3.scaleLinear().domain([low - pad, high + pad]).nice();
}

function drawCurve(svg, size, { points, log, share, xLabel, waits }) {
    const shown = thinned(log ? points.filter((point) => point.y > 0) : points);
    if (shown.length === 0) {
        drawEmpty(svg, size, waits ? 'Waiting for the first iteration …'
            : points.length > 0 ? 'All values are 0 or below' : 'Not reported by this method');
        return;
    }
    const y = yScale(shown, log);
    const axis = {
        grid: true, ticks: 5,
        format: share ? '%' : log ? (value) => number(value, 1) : undefined,
    };
    const plot = frame(svg, size, {
        top: 8, right: 16, bottom: 40, left: labelRoom(y, axis, 62),
    });
    y.range([plot.height, 0]);
    const [first, last] = d3.extent(shown, (point) => point.x);
    const x = d3.scaleLinear().domain(first === last ? [first - 1, last + 1] : [first, last])
        .range([0, plot.width]);
    xAxis(plot, x, { label: xLabel, format: ',d', ticks: Math.min(plot.width / 70, last) });
    yAxis(plot, y, axis);
    const line = d3.line().x((point) => x(point.x)).y((point) => y(point.y));
    for (const segment of segments(shown)) {
        plot.g.append('path').attr('d', line(segment)).attr('fill', 'none')
            .style('stroke', 'var(--plot)').attr('stroke-width', 2);
    }
    const end = shown[shown.length - 1];
    plot.g.append('circle').attr('cx', x(end.x)).attr('cy', y(end.y)).attr('r', 3.5)
        .style('fill', 'var(--plot)');
}

/* history: as loaded, or null. waits: more iterations will come. query: `scale` has the members
 * whose scale is not the usual one. */
export class IterationCurves extends Component {
    shouldComponentUpdate({ history, waits, query }) {
        return history !== this.props.history || waits !== this.props.waits ||
            query.scale !== this.props.query.scale;
    }

    curve({ member, label, text, log: usual, share }) {
        const { history, waits, query, id } = this.props;
        const updates = Boolean(history?.[0]?.update);
        const points = (history || [])
            .map((row) => ({ x: updates ? row.update : row.iteration, y: row[member] }))
            .filter((point) => typeof point.y === 'number');
        const changes = (query.scale || '').split(',').filter(Boolean);
        const log = Boolean(usual) !== changes.includes(member);
        const change = () => setQuery({
            scale: (changes.includes(member) ? changes.filter((name) => name !== member)
                : [...changes, member]).join(','),
        });
        const xLabel = updates ? 'Change of the weights' : 'Iteration';
        return h('div', { key: member, class: 'card' }, h(Figure, {
            title: label, level: 2, name: `job-${id}-${member}`, height: HEIGHT,
            label: `${label} by iteration`,
            of: `${points.length} ${points[points.length - 1]?.y} ${log} ${waits}`,
            draw: (svg, size) => drawCurve(svg, size, { points, log, share, xLabel, waits }),
            table: () => ({
                names: [xLabel, label], rows: points.map((point) => [point.x, point.y]),
            }),
        }, [
            h('p', { class: 'minor' }, text),
            share ? null : h(Check, {
                label: `Logarithmic scale of the ${label.toLowerCase()}`, checked: log,
                onChange: change,
            }),
        ]));
    }

    render({ history, waits }) {
        const reported = CURVES.filter(({ member }) => waits || !history ||
            history.some((row) => typeof row[member] === 'number'));
        return h('div', { class: 'grid plots' }, reported.map((curve) => this.curve(curve)));
    }
}

const SETS = [{ name: 'train', label: 'training rows' },
    { name: 'validation', label: 'held-out rows' }];

function drawLearning(svg, size, { points, metric }) {
    const all = points.flatMap((point) => SETS.map(({ name }) => ({ y: point[name][metric] })))
        .filter((point) => typeof point.y === 'number');
    if (all.length === 0) {
        drawEmpty(svg, size, 'This metric is not defined here');
        return;
    }
    const plot = frame(svg, size, { top: 8, right: 16, bottom: 40, left: 62 });
    const x = d3.scaleLinear().domain([0, d3.max(points, (point) => point.rows)])
        .range([0, plot.width]).nice();
    const y = yScale(all, false).range([plot.height, 0]);
    xAxis(plot, x, { label: 'Training rows' });
    yAxis(plot, y, { grid: true, ticks: 5, format: METRICS[metric]?.share ? '%' : undefined });
    SETS.forEach(({ name }, i) => {
        const series = points.filter((point) => typeof point[name][metric] === 'number');
        const at = (point) => [x(point.rows), y(point[name][metric])];
        plot.g.append('path').attr('fill', 'none').attr('stroke-width', 2)
            .attr('d', d3.line()(series.map(at))).style('stroke', colour(i));
        plot.g.selectAll(`path.${name}`).data(series).enter().append('path').attr('class', name)
            .attr('d', symbol(i, 50)).style('fill', colour(i))
            .attr('transform', (point) => `translate(${at(point)})`);
    });
}

/* points: result.learning_curve. */
export function LearningCurve({ points, id, query }) {
    const offered = Object.keys(METRICS).filter((name) =>
        points.some((point) => typeof point.validation[name] === 'number'));
    const metric = offered.includes(query.metric) ? query.metric
        : offered.includes('log_loss') ? 'log_loss' : offered[0];
    return h('div', { class: 'card' }, h(Figure, {
        title: 'Learning curve', level: 2, name: `job-${id}-learning-curve`,
        label: `${metricLabel(metric)} by the number of training rows`, of: metric,
        draw: (svg, size) => drawLearning(svg, size, { points, metric }),
        table: () => ({
            names: ['Training rows', ...SETS.map(({ label }) =>
                `${metricLabel(metric)} on ${label}`)],
            rows: points.map((point) => [point.rows, ...SETS.map(({ name }) =>
                point[name][metric])]),
        }),
    }, [
        h('p', { class: 'minor' }, 'If the held-out rows still get better at the right, more ' +
            'rows will help. If both lines have met, a more flexible method or other columns ' +
            'will.'),
        h('div', { class: 'fields' }, h(Choice, {
            label: 'Metric', value: metric,
            options: offered.map((name) => ({ value: name, label: metricLabel(name) })),
            onChange: (name) => setQuery({ metric: name }),
        })),
        h(Legend, { names: SETS.map(({ label }) => label) }),
    ]));
}
