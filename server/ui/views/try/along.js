/* How the answer changes along one column, the other values as they are. */
import { Component, h } from '../../base/preact.js';
import { post } from '../../base/api.js';
import { d3 } from '../../base/d3.js';
import { setQuery } from '../../base/place.js';
import { MARGIN, frame, xAxis, yAxis } from '../../parts/axes.js';
import { Choice } from '../../parts/fields.js';
import { Figure } from '../../parts/figure.js';
import { Legend, colour, symbol } from '../../parts/palette.js';
import { scaleOf } from '../../parts/plane_layers.js';
import { gridOf, hasGrid, instanceOf, placeOf } from './row_fields.js';
import { scoreNames } from './scores.js';

const PAUSE = 200; /* ms after the last change of a value */
const MOST_LINES = 5;
const MOST_MARKS = 10; /* classes with a colour of their own */
const MOST_NAMES = 3; /* of text columns */
const BAND = 26; /* px of a category */

/* Returns the lines: [{name, mark, values}] for the label of the row and the most probable classes
 * along the grid; of two classes for the second one. mark: the number of colour and symbol; here:
 * the index of the row in the grid, or -1. */
function linesOf({ classes, predictions }, here, model) {
    const probable = Boolean(predictions[0].probabilities);
    const rows = predictions.map((p) => p.probabilities || p.scores);
    if (!rows[0]) {
        return { probable, lines: [] };
    }
    const names = probable ? classes.map(String) : scoreNames(model, classes, rows[0].length);
    const all = rows[0].map((_, at) => ({
        at, mark: at, values: rows.map((row) => row[at]),
        name: names[at],
    }));
    if (probable && classes.length === 2) {
        return { probable, lines: [all[1]] };
    }
    const size = ({ values }) => (here >= 0 ? values[here] : 0) + d3.max(values);
    const lines = [...all].sort((a, b) => size(b) - size(a)).slice(0, MOST_LINES)
        .sort((a, b) => a.at - b.at);
    return {
        probable, lines: all.length > MOST_MARKS
            ? lines.map((line, i) => ({ ...line, mark: i })) : lines,
    };
}

/* What is on the axis of the answer. */
function titleOf({ probable, lines }) {
    const what = probable ? 'Probability' : 'Score';
    return lines.length === 1 ? `${what} of ${lines[0].name}` : what;
}

function yScaleOf({ probable, lines }, range) {
    const [low, high] = d3.extent(lines.flatMap(({ values }) => values));
    const pad = low === high ? 1 : 0;
    return d3.scaleLinear().domain(probable ? [0, 1] : [low - pad, high + pad]).range(range);
}

function drawNumbers(svg, size, { field, data, now }) {
    const plot = frame(svg, size, { ...MARGIN, left: 66 });
    const points = data.grid.map((text) => placeOf(field, text));
    const [from, to] = d3.extent(points);
    const x = scaleOf({ from, to, form: field.form }, [0, plot.width]);
    const y = yScaleOf(data, [plot.height, 0]);
    const ticks = Math.min(plot.width / 80, 10, field.whole ? to - from : 10);
    xAxis(plot, x.axis || x, { label: field.name, ticks });
    yAxis(plot, y, {
        grid: true, ticks: 5, format: data.probable ? '.0%' : undefined, label: titleOf(data),
        offset: 54,
    });
    const at = points.indexOf(placeOf(field, now));
    if (at >= 0) {
        plot.g.append('line').attr('x1', x(points[at])).attr('x2', x(points[at])).attr('y1', 0)
            .attr('y2', plot.height).attr('stroke-dasharray', '4 3')
            .style('stroke', 'var(--strong-line)');
    }
    data.lines.forEach(({ values, mark }) => {
        plot.g.append('path').attr('fill', 'none').attr('stroke-width', 2.5)
            .attr('d', d3.line()(points.map((point, i) => [x(point), y(values[i])])))
            .style('stroke', colour(mark));
        if (at >= 0) {
            plot.g.append('path').attr('d', symbol(mark, 90)).style('fill', colour(mark))
                .attr('transform', `translate(${x(points[at])},${y(values[at])})`);
        }
    });
}

function drawCategories(svg, size, { data, now }) {
    const left = Math.min(Math.max(size.width * 0.3, 90), 240);
    const plot = frame(svg, size, { top: 8, right: 20, bottom: 40, left });
    const x = yScaleOf(data, [0, plot.width]);
    xAxis(plot, x, {
        label: titleOf(data), format: data.probable ? '.0%' : undefined, grid: true,
    });
    const most = Math.floor(left / 7.5);
    data.grid.forEach((level, i) => {
        const y = (i + 0.5) * BAND;
        plot.g.append('text').attr('x', -8).attr('y', y).attr('dy', '0.35em')
            .attr('text-anchor', 'end').attr('font-weight', level === now ? 700 : 400)
            .text(level.length > most ? `${level.slice(0, most - 1)}…` : level)
            .append('title').text(level);
        for (const { values, mark } of data.lines) {
            plot.g.append('path').attr('d', symbol(mark, level === now ? 130 : 70))
                .attr('transform', `translate(${x(values[i])},${y})`).style('fill', colour(mark));
        }
    });
}

/* "a", "a and b", "a, b and 3 other columns". */
function namesText(names) {
    const shown = names.length > MOST_NAMES + 1 ? names.slice(0, MOST_NAMES) : names;
    const parts = [...shown.map((name) => `“${name}”`), ...(shown.length < names.length
        ? [`${names.length - shown.length} other columns`] : [])];
    return parts.length === 1 ? parts[0]
        : `${parts.slice(0, -1).join(', ')} and ${parts[parts.length - 1]}`;
}

/*   model, fields, values   as those of the form
 *   where                   path of predict
 *   query                   `along` is the column
 *   probable                whether the model has probabilities
 */
export class Along extends Component {
    constructor(props) {
        super(props);
        this.state = { data: null, failed: false };
    }

    componentDidMount() {
        this.load();
    }

    componentDidUpdate(before) {
        if (before.values !== this.props.values || before.query.along !== this.props.query.along) {
            clearTimeout(this.timer);
            this.timer = setTimeout(() => this.load(), PAUSE);
        }
    }

    componentWillUnmount() {
        clearTimeout(this.timer);
        this.abort?.abort();
    }

    field() {
        const usable = this.props.fields.filter(hasGrid);
        return usable.find(({ name }) => name === this.props.query.along) ||
            usable.find(({ kind }) => kind === 'number') || usable[0];
    }

    async load() {
        const { fields, values, where, model, probable } = this.props;
        const field = this.field();
        this.abort?.abort();
        const abort = new AbortController();
        this.abort = abort;
        if (!field) {
            return;
        }
        const now = values[field.name] ?? '';
        const grid = gridOf(field, now);
        const row = instanceOf(fields, values);
        const instances = grid.map((text) =>
            ({ ...row, ...instanceOf([field], { [field.name]: text }) }));
        try {
            const answer = await post(where, { instances },
                { query: { output: `label,${probable ? 'probabilities' : 'scores'}` },
                    signal: abort.signal });
            const here = grid.findIndex((text) => text === now ||
                placeOf(field, text) === placeOf(field, now));
            const lines = linesOf(answer, here, model);
            const labels = answer.predictions.map(({ label }) => label);
            this.setState({ data: { ...lines, field, grid, now, labels }, failed: false });
        } catch (error) {
            if (error.name !== 'AbortError') {
                this.setState({ failed: true });
            }
        }
    }

    figure(data) {
        const { field, grid, now, lines, labels } = data;
        const draw = field.kind === 'category' ? drawCategories : drawNumbers;
        const names = lines.map(({ name }) => `${data.probable ? 'P' : ''}(${name})`);
        return h(Figure, {
            name: `${this.props.model.name}-along-${field.name}`.replace(/[^\w.-]+/g, '_'),
            label: `${titleOf(data)} by ${field.name}`, of: data,
            height: field.kind === 'category' ? grid.length * BAND + 48 : 300,
            draw: (svg, size) => draw(svg, size, { field, data, now }),
            table: {
                names: [field.name, 'label', ...names],
                rows: grid.map((text, i) => [field.kind === 'number' ? placeOf(field, text) : text,
                    labels[i] === null ? '' : String(labels[i]),
                    ...lines.map(({ values }) => values[i])]),
            },
        }, lines.length > 1 ? h('div', { class: 'legends' }, lines.map(({ name, mark }) =>
            h(Legend, { key: name, names: [name], first: mark }))) : null);
    }

    render({ fields }, { data, failed }) {
        const usable = fields.filter(hasGrid);
        const field = this.field();
        const texts = fields.filter(({ kind }) => kind === 'text').map(({ name }) => name);
        const heading = h('h2', {}, 'How the answer changes along one column');
        const without = texts.length === 0 ? null : h('p', { class: 'minor' },
            `There is no curve along ${namesText(texts)}: texts have no order, and no values ` +
            'between two of them.');
        if (!field) {
            return without && h('section', { class: 'card stack' }, [heading, without]);
        }
        return h('section', { class: 'card stack along', 'aria-label': 'Along one column' }, [
            heading, without,
            h('div', { class: 'fields' }, h(Choice, {
                label: 'Column', value: field.name, options: usable.map(({ name }) => name),
                hint: 'The other values stay as they are in the form.',
                onChange: (along) => setQuery({ along }),
            })),
            failed ? h('p', { class: 'error' },
                'There is no answer for these values: correct the row first.') : null,
            data ? this.figure(data) : h('div', { class: 'along-room' }),
        ]);
    }
}
