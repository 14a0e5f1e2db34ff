/* One column of a dataset: its numbers, its histogram or its most frequent values. */
import { h } from '../../base/preact.js';
import { d3 } from '../../base/d3.js';
import { advice } from '../../base/advice.js';
import { count, number, percent, plural } from '../../base/format.js';
import { link } from '../../base/place.js';
import { Figure } from '../../parts/figure.js';
import { frame, MARGIN, xAxis, yAxis } from '../../parts/axes.js';
import { flags, rangeText } from './column_text.js';

const MOST_BARS = 25;
const BAR = 24; /* px */

function bins({ min, max, histogram: { counts } }) {
    const width = (max - min) / counts.length;
    return counts.map((n, i) => ({ from: min + i * width, to: min + (i + 1) * width, n }));
}

function Histogram({ column }) {
    const list = bins(column);
    return h(Figure, {
        title: 'How often each value occurs', name: `histogram-${column.name}`, of: column,
        label: `Histogram of ${column.name}`, height: 260,
        table: {
            names: ['from', 'to', 'rows'], rows: list.map(({ from, to, n }) => [from, to, n]),
        },
        draw: (svg, size) => {
            const inner = frame(svg, size);
            const single = column.min === column.max;
            const x = d3.scaleLinear().range([0, inner.width])
                .domain(single ? [column.min - 1, column.max + 1] : [column.min, column.max]);
            const y = d3.scaleLinear().range([inner.height, 0])
                .domain([0, d3.max(list, (bin) => bin.n) || 1]).nice();
            yAxis(inner, y, { grid: true, label: 'rows', format: '~s' });
            xAxis(inner, x, { label: column.name.slice(0, 60) });
            const half = single ? 0.25 : 0;
            inner.g.selectAll('rect.bar').data(list).enter().append('rect').attr('class', 'bar')
                .attr('x', (bin) => x(bin.from - half) + 0.5)
                .attr('width', (bin) => Math.max(x(bin.to + half) - x(bin.from - half) - 1, 1))
                .attr('y', (bin) => y(bin.n)).attr('height', (bin) => inner.height - y(bin.n));
        },
    });
}

function TopValues({ column, rows }) {
    const known = Math.max(rows - column.missing, 1);
    const shown = column.top.slice(0, MOST_BARS);
    const longest = d3.max(shown, ([value]) => String(value).length) || 1;
    return h(Figure, {
        title: 'The most frequent values', name: `values-${column.name}`, of: column,
        label: `The most frequent values of ${column.name}`,
        height: shown.length * BAR + 56,
        table: {
            names: ['value', 'rows', 'share'],
            rows: column.top.map(([value, n]) => [String(value), n, n / known]),
        },
        draw: (svg, size) => {
            const left = Math.min(Math.max(longest * 7 + 12, 40), size.width * 0.4);
            const inner = frame(svg, size, { ...MARGIN, left, right: 64 });
            const y = d3.scaleBand().domain(d3.range(shown.length)).range([0, inner.height])
                .padding(0.2);
            const x = d3.scaleLinear().domain([0, shown[0][1]]).range([0, inner.width]);
            const row = inner.g.selectAll('g.row').data(shown).enter().append('g')
                .attr('transform', (d, i) => `translate(0,${y(i)})`);
            row.append('rect').attr('class', 'bar').attr('height', y.bandwidth())
                .attr('width', ([, n]) => Math.max(x(n), 1));
            row.append('text').attr('x', -8).attr('y', y.bandwidth() / 2).attr('dy', '0.35em')
                .attr('text-anchor', 'end').text(([value]) => {
                    const most = Math.floor((left - 12) / 7);
                    const text = String(value);
                    return text.length > most ? `${text.slice(0, most - 1)}…` : text;
                });
            row.append('text').attr('x', ([, n]) => x(n) + 6).attr('y', y.bandwidth() / 2)
                .attr('dy', '0.35em').text(([, n]) => percent(n / known));
            xAxis(inner, x, { label: 'rows', format: '~s' });
        },
    });
}

/* [name, text] of what is known. */
function facts(column, rows) {
    const { type, type_reason: reason } = column;
    const quantiles = column.quantiles || {};
    const list = [
        ['Type', type],
        reason ? ['Why', reason.line ? `line ${count(reason.line)}, “${reason.cell}”: ` +
            advice(reason.detail) : advice(reason.detail)] : null,
        ['Missing', `${count(column.missing)} of ${plural(rows, 'row')} ` +
            `(${percent(column.missing / Math.max(rows, 1))})`],
        column.distinct === undefined || column.distinct === null ? null : ['Different values',
            `${column.distinct_estimated ? 'about ' : ''}${count(column.distinct)}`],
    ];
    if (type === 'numeric') {
        list.push(['Smallest and largest', rangeText(column)], ['Mean', number(column.mean, 6)],
            ['Standard deviation', number(column.std, 6)],
            quantiles['0.5'] === undefined ? null : ['Median (half of the rows are below)',
                number(quantiles['0.5'], 6)],
            quantiles['0.05'] === undefined ? null : ['The middle 90 % of the rows',
                `${number(quantiles['0.05'], 6)} to ${number(quantiles['0.95'], 6)}`],
            column.nonzero === undefined ? null : ['Rows that are not 0', count(column.nonzero)]);
    }
    if (type === 'datetime') {
        list.push(['Form', column.form || '–'], ['First and last',
            `${column.min ?? '–'} to ${column.max ?? '–'}`]);
    }
    if (column.words !== undefined) {
        const different = count(column.distinct_words);
        list.push(['Words', `${count(column.words)}, about ${different} different`],
            ['Longest text', plural(column.longest, 'byte')]);
    }
    if (column.others) {
        list.push(['Rows with other values', count(column.others)]);
    }
    return list.filter(Boolean);
}

export function ColumnDetail({ dataset, query }) {
    const { columns, rows, name } = dataset;
    const at = columns.findIndex((column) => column.name === query.column);
    const to = (column) => link(['data', name], { ...query, column });
    const all = h('a', { href: to('') }, '← All columns');
    if (at < 0) {
        return h('section', { 'aria-label': 'Column' }, [
            h('p', {}, all),
            h('p', { class: 'empty' }, `This version has no column “${query.column}”.`),
        ]);
    }
    const column = columns[at];
    const near = [
        [columns[at - 1], (name) => `← ${name}`], [columns[at + 1], (name) => `${name} →`],
    ];
    return h('section', { class: 'stack', 'aria-label': `Column ${column.name}` }, [
        h('div', { class: 'head' }, [
            all,
            h('span', { class: 'buttons' }, near.map(([other, text]) => (other
                ? h('a', { href: to(other.name), class: 'column-name' }, text(other.name))
                : null))),
        ]),
        h('h2', {}, column.name),
        ...flags(column, rows).map(([, hint]) => h('p', { class: 'warnings' }, hint)),
        h('div', { class: 'split' }, [
            h('div', { class: 'card' }, column.histogram ? h(Histogram, { column })
                : column.top?.length ? h(TopValues, { column, rows })
                    : h('p', { class: 'minor' }, column.type === 'text'
                        ? 'Texts have no frequent values to draw: look at the rows.'
                        : 'There is nothing to draw for this column.')),
            h('dl', { class: 'card' }, facts(column, rows).flatMap(([label, text]) =>
                [h('dt', {}, label), h('dd', {}, text)])),
        ]),
    ]);
}
