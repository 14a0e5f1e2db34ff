/* Contributions of the columns to a score, as a waterfall from the baseline to the score. */
import { Component, h } from '../../base/preact.js';
import { d3 } from '../../base/d3.js';
import { number } from '../../base/format.js';
import { setQuery } from '../../base/place.js';
import { Choice } from '../../parts/fields.js';
import { Figure } from '../../parts/figure.js';
import { scoreNames, scoreOf } from './scores.js';

const MOST = 10; /* columns with a bar of their own */
const ROW = 28; /* px */
const NARROW = 480; /* px of the figure; below, names stand above their bars */
const LINE = 20; /* px of such a name */
const MOST_TEXT = 34; /* characters of a name */
const LETTER = 7.2; /* px of a character, about */

/* Returns a function from a feature to what its bar is called: the features of a category are one
 * bar, that of its column. fields: of fieldsOf(). */
function namer(fields, values) {
    const categories = fields.filter(({ kind }) => kind === 'category' || kind === 'date')
        .map(({ name }) => name);
    const known = new Set(fields.map(({ name }) => name));
    const shown = (name) => `${name} = ${values[name] === '' || values[name] === undefined
        ? '(missing)' : values[name]}`;
    return (feature) => {
        if (known.has(feature)) {
            return shown(feature);
        }
        const column = categories.find((name) =>
            feature.startsWith(`${name}=`) || feature.startsWith(`${name}:`));
        return column === undefined ? feature : shown(column);
    };
}

/* Returns the steps of a score: [{name, value}], the largest first, then the rest.
 * answer: with contributions. */
function stepsOf(answer, at, name) {
    const [{ contributions, rest }] = answer.predictions;
    const sums = new Map();
    contributions[at].forEach((item, i) => {
        const [feature, value] = typeof item === 'object' && item !== null
            ? [item.feature, item.value] : [answer.features[i], item];
        const key = name(feature);
        sums.set(key, (sums.get(key) || 0) + (value || 0));
    });
    const sorted = [...sums].map(([key, value]) => ({ name: key, value }))
        .sort((a, b) => Math.abs(b.value) - Math.abs(a.value));
    const others = sorted.slice(MOST).reduce((sum, { value }) => sum + value, rest?.[at] || 0);
    const steps = sorted.slice(0, MOST);
    if (sorted.length > MOST || rest) {
        steps.push({ name: 'all others', value: others });
    }
    return steps;
}

function short(text, most) {
    return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}

/* The range of the axis: from start to score. It has 0 unless that is so far away that the steps
 * would be too small to be seen; then the bars of start and score are cut off. */
function domainOf(bars) {
    const [low, high] = d3.extent(bars, ({ to }) => to);
    const span = high - low || Math.abs(high) || 1;
    const near = low - 4 * span < 0 && high + 4 * span > 0;
    const ends = near ? [Math.min(low, 0), Math.max(high, 0)] : [low - span / 4, high + span / 4];
    const pad = (ends[1] - ends[0] || 1) * 0.04;
    return [ends[0] - pad, ends[1] + pad];
}

/* Where names, bars and values are in a row: {row: its height, left and right: of the bars, px from
 * the edges, top: of the bar, text: the middle of name and value, most: characters of a name}. */
function layoutOf(width) {
    const value = 78; /* px */
    if (width < NARROW) {
        return {
            row: LINE + ROW, left: 2, right: 2, top: LINE, text: LINE / 2,
            most: Math.floor((width - value) / LETTER),
        };
    }
    const left = Math.min(Math.max(width * 0.36, 110), 260);
    return {
        row: ROW, left, right: value, top: 4, text: ROW / 2,
        most: Math.min(MOST_TEXT, Math.floor(left / LETTER)),
    };
}

function drawWaterfall(svg, { width, height }, { steps, start, score }) {
    const { row, left, right, top, text, most } = layoutOf(width);
    const isNarrow = width < NARROW;
    const bars = [{ name: 'start', from: 0, to: start, total: true }];
    let sum = start;
    for (const { name, value } of steps) {
        bars.push({ name, from: sum, to: sum + value, value });
        sum += value;
    }
    bars.push({ name: 'score', from: 0, to: score, total: true });
    const [low, high] = domainOf(bars);
    const x = d3.scaleLinear().domain([low, high]).range([left, width - right]).clamp(true);
    if (low < 0 && high > 0) {
        svg.append('line').attr('x1', x(0)).attr('x2', x(0)).attr('y1', isNarrow ? top : 0)
            .attr('y2', height).style('stroke', 'var(--strong-line)');
    }
    bars.forEach((bar, i) => {
        const g = svg.append('g').attr('transform', `translate(0,${i * row})`);
        g.append('title').text(`${bar.name}: ${number(bar.total ? bar.to : bar.value)}`);
        const label = () => g.append('text').attr('y', text).attr('dy', '0.35em')
            .style('stroke', 'var(--surface)').attr('stroke-width', isNarrow ? 4 : 0)
            .attr('paint-order', 'stroke');
        if (i + 1 < bars.length) {
            g.append('line').attr('x1', x(bar.to)).attr('x2', x(bar.to)).attr('y1', top)
                .attr('y2', row + top).style('stroke', 'var(--strong-line)')
                .attr('stroke-dasharray', '2 2');
        }
        g.append('rect').attr('x', Math.min(x(bar.from), x(bar.to))).attr('y', top)
            .attr('width', Math.max(Math.abs(x(bar.to) - x(bar.from)), 1)).attr('height', ROW - 8)
            .style('fill', bar.total ? 'var(--strong-line)'
                : bar.value >= 0 ? 'var(--plot)' : 'var(--plot-2)');
        label().attr('x', isNarrow ? 0 : left - 8).attr('text-anchor', isNarrow ? 'start' : 'end')
            .attr('font-weight', bar.total ? 600 : 400).text(short(bar.name, most));
        label().attr('x', isNarrow ? width : width - right + 8)
            .attr('text-anchor', isNarrow ? 'end' : 'start')
            .text(`${bar.value > 0 ? '+' : ''}${number(bar.total ? bar.to : bar.value, 3)}`);
    });
}

function Unexplained() {
    return h('p', { class: 'minor' }, 'The scores of this method are not sums over the columns ' +
        '(as with networks and kernels), so that they have no contributions. See below how the ' +
        'answer changes along a column.');
}

/* answer: of predict with contributions; fields, values: of the form. query: `score` is the number
 * of the score that is shown. */
export class Waterfall extends Component {
    shouldComponentUpdate({ answer, query }) {
        return answer !== this.props.answer || query.score !== this.props.query.score;
    }

    figure() {
        const { answer, model, fields, values, query } = this.props;
        const [{ label, scores }] = answer.predictions;
        const { classes } = answer;
        const names = scoreNames(model, classes, scores.length);
        const at = names[query.score] === undefined
            ? scoreOf(model, classes, scores.length, label) : Number(query.score);
        const steps = stepsOf(answer, at, namer(fields, values));
        const start = answer.intercept[at] ?? 0;
        const score = scores[at];
        const rows = [['start', start], ...steps.map(({ name, value }) => [name, value]),
            ['score', score]];
        return h(Figure, {
            level: 2, title: 'Why: from the start to the score',
            name: `${model.name}-contributions`,
            label: `Contributions of the columns to the score of ${names[at]}`,
            height: this.height(steps.length + 2), of: answer === this.answer && at === this.at
                ? this.of : this.next(answer, at),
            draw: (svg, size) => drawWaterfall(svg, size, { steps, start, score }),
            table: { names: ['Part', `Score of ${names[at]}`], rows },
        }, [
            h('p', { class: 'minor' }, `The start is the score of ${answer.baseline
                ? 'the mean training row' : 'a row of zeros'}. Bars to the right speak for ` +
                `${names[at]}, bars to the left against it.${names.length === 1
                    ? ` A score above 0 is for ${names[at]}.` : ''}`),
            names.length > 1 ? h('div', { class: 'fields' }, h(Choice, {
                label: 'Score of', value: String(at),
                options: names.map((name, i) =>
                    ({ value: String(i), label: short(name, MOST_TEXT) })),
                onChange: (score_) => setQuery({ score: score_ }),
            })) : null,
        ]);
    }

    /* The same function as long as the number of bars is: a new one draws the figure again. */
    height(bars) {
        if (bars !== this.bars) {
            this.bars = bars;
            this.heightFor = (width) => bars * layoutOf(width).row;
        }
        return this.heightFor;
    }

    /* A new value for each drawing. */
    next(answer, at) {
        this.answer = answer;
        this.at = at;
        this.of = {};
        return this.of;
    }

    render({ answer }) {
        const explained = answer.predictions[0].contributions && answer.intercept;
        return h('section', { class: 'card', 'aria-label': 'Contributions' },
            explained ? this.figure() : h(Unexplained));
    }
}
