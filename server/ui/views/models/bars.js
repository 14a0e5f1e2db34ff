/* Sorted bars of many values: a page of them is drawn, the others are reached by pages or by a
 * search. */
import { Component, h } from '../../base/preact.js';
import { d3 } from '../../base/d3.js';
import { count, number } from '../../base/format.js';
import { Choice, TextField } from '../../parts/fields.js';
import { Figure } from '../../parts/figure.js';
import { frame, xAxis } from '../../parts/axes.js';

const PAGE = 25;
const ROW = 22; /* px */
const AXIS = 46;

const ORDERS = {
    size: { label: 'Largest first, of either sign', by: (a, b) => Math.abs(b.value) -
        Math.abs(a.value) },
    up: { label: 'Most positive first', by: (a, b) => b.value - a.value },
    down: { label: 'Most negative first', by: (a, b) => a.value - b.value },
    sure: { label: 'Surest first', by: (a, b) => Math.abs(b.z ?? 0) - Math.abs(a.z ?? 0) },
    name: { label: 'By name', by: (a, b) => a.name.localeCompare(b.name, 'en', { numeric: true }) },
};

/* Writes a name into a selected text element, at most `width` px wide: its end is left out. */
function writeName(text, name, width) {
    text.text(name);
    const share = width / text.node().getComputedTextLength();
    if (share < 1) {
        text.text(`${name.slice(0, Math.max(Math.floor(name.length * share) - 2, 4))}…`);
    }
}

function draw(svg, size, { items, label, domain, format }) {
    const left = Math.min(Math.max(size.width * 0.34, 90), 300);
    const inner = frame(svg, size, { top: 4, right: 16, bottom: 40, left });
    const x = d3.scaleLinear().domain(domain).nice().range([0, inner.width]);
    xAxis(inner, x, { label, format, grid: true, ticks: Math.max(inner.width / 90, 2) });
    const y = (i) => i * ROW;
    items.forEach((item, i) => {
        const text = inner.g.append('text').attr('x', -8).attr('y', y(i) + ROW / 2)
            .attr('text-anchor', 'end').attr('dominant-baseline', 'central');
        writeName(text, item.name, left - 12);
        text.append('title').text(item.name);
        const [from, to] = [x(Math.min(0, item.value)), x(Math.max(0, item.value))];
        inner.g.append('rect').attr('class', item.value < 0 ? 'bar negative' : 'bar')
            .attr('x', from).attr('width', Math.max(to - from, 1)).attr('y', y(i) + 3)
            .attr('height', ROW - 6)
            .append('title').text(`${item.name}: ${number(item.value)}`);
        if (Number.isFinite(item.low) && Number.isFinite(item.high)) {
            const middle = y(i) + ROW / 2;
            inner.g.append('path').attr('class', 'whisker').attr('d',
                `M${x(item.low)} ${middle}H${x(item.high)}` +
                `M${x(item.low)} ${middle - 4}v8M${x(item.high)} ${middle - 4}v8`);
        }
    });
    inner.g.append('line').attr('class', 'zero').attr('x1', x(0)).attr('x2', x(0)).attr('y1', 0)
        .attr('y2', inner.height);
}

/* The ends of the axis. */
function domainOf(items) {
    const ends = items.flatMap((v) => [v.value, v.low, v.high]).filter(Number.isFinite);
    const [low, high] = d3.extent([0, ...ends]);
    return low === high ? [-1, 1] : [low, high];
}

/*   title, name, label  of the figure, of saved files and of the axis
 *   format   of the numbers of the axis, for d3
 *   items    [{name, value, low, high, z}]; the same array as long as nothing changes
 *   more     further columns of the table: [{name, value: (item) => value}]
 *   order    the order at first: a key of ORDERS
 *   children shown between title and plot
 */
export class Bars extends Component {
    constructor(props) {
        super(props);
        this.state = { order: props.order || 'size', find: '', page: 0 };
    }

    componentWillReceiveProps({ items }) {
        if (items !== this.props.items) {
            this.setState({ page: 0 });
        }
    }

    /* The items that the search finds, in their order. */
    found({ order, find }) {
        const { items } = this.props;
        const key = `${order}\n${find}`;
        if (this.of !== items || this.by !== key) {
            const word = find.trim().toLowerCase();
            this.of = items;
            this.by = key;
            this.list = items.filter((item) => item.name.toLowerCase().includes(word))
                .sort(ORDERS[order].by);
        }
        return this.list;
    }

    pages(n, page) {
        const last = Math.max(Math.ceil(n / PAGE) - 1, 0);
        const to = (p) => () => this.setState({ page: p });
        return h('div', { class: 'buttons' }, [
            h('button', { type: 'button', disabled: page === 0, onClick: to(page - 1) }, 'Before'),
            h('span', { class: 'minor', role: 'status' }, n === 0 ? 'Nothing is found' :
                `${count(page * PAGE + 1)} to ${count(Math.min((page + 1) * PAGE, n))} of ${
                    count(n)}`),
            h('button', { type: 'button', disabled: page >= last, onClick: to(page + 1) }, 'Next'),
        ]);
    }

    controls({ items }, { order, find }) {
        const sure = items.some((item) => Number.isFinite(item.z));
        return h('div', { class: 'fields broad' }, [
            h(Choice, {
                label: 'Order', value: order,
                options: Object.entries(ORDERS).filter(([key]) => key !== 'sure' || sure)
                    .map(([value, { label }]) => ({ value, label })),
                onChange: (value) => this.setState({ order: value, page: 0 }),
            }),
            items.length > PAGE ? h(TextField, {
                label: 'Find', type: 'search', value: find,
                onInput: (text) => this.setState({ find: text, page: 0 }),
            }) : null,
        ]);
    }

    render({ items, title, name, label, format, more = [], children }, state) {
        const found = this.found(state);
        const page = Math.min(state.page, Math.max(Math.ceil(found.length / PAGE) - 1, 0));
        const shown = found.slice(page * PAGE, (page + 1) * PAGE);
        const domain = domainOf(shown);
        return h('div', { class: 'stack' }, [
            ...(children || []),
            items.length > 1 ? this.controls({ items }, state) : null,
            h(Figure, {
                title, name, height: shown.length * ROW + AXIS,
                of: [title, this.by, page, ...shown.map((item) => item.value)].join('\n'),
                draw: (svg, size) => draw(svg, size, { items: shown, label, domain, format }),
                table: () => ({
                    names: ['name', 'value', 'low', 'high', ...more.map((m) => m.name)],
                    rows: found.map((v) => [v.name, v.value, v.low ?? null, v.high ?? null,
                        ...more.map((m) => m.value(v) ?? null)]),
                }),
            }),
            items.length > PAGE ? this.pages(found.length, page) : null,
        ]);
    }
}
