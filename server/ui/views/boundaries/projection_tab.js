/* Fisher's projection: the classes along its directions, and how well each direction of two columns
 * separates them. */
import { h } from '../../base/preact.js';
import { d3 } from '../../base/d3.js';
import { post } from '../../base/api.js';
import { number } from '../../base/format.js';
import { setQuery } from '../../base/place.js';
import { versionPath } from '../../base/version_path.js';
import { frame, yAxis } from '../../parts/axes.js';
import { ClassHistogram } from '../../parts/class_histogram.js';
import { Choice } from '../../parts/fields.js';
import { Figure } from '../../parts/figure.js';
import { Loaded } from '../../parts/loaded.js';
import { importantColumns } from './columns.js';

const BINS = 40;
const MOST_DIRECTIONS = 6;
const DEGREES = 180 / Math.PI;

function draw(svg, size, { angles, criterion, maximum }) {
    const inner = frame(svg, size);
    const x = d3.scaleLinear().domain([0, 180]).range([0, inner.width]);
    const y = d3.scaleLinear().domain([0, Math.max(d3.max(criterion), maximum.criterion)]).nice()
        .range([inner.height, 0]);
    yAxis(inner, y, { label: 'Criterion J', grid: true });
    const axis = d3.axisBottom(x).tickValues(d3.range(0, 181, inner.width > 500 ? 15 : 45))
        .tickFormat((v) => `${v}°`);
    inner.g.append('g').attr('class', 'axis').attr('transform', `translate(0,${inner.height})`)
        .call(axis);
    inner.g.append('path').attr('class', 'plane-line plain')
        .attr('d', d3.line()(angles.map((a, i) => [x(a * DEGREES), y(criterion[i])])));
    inner.g.append('circle').attr('class', 'plane-best').attr('r', 5)
        .attr('cx', x(maximum.angle * DEGREES)).attr('cy', y(maximum.criterion));
}

function Curve({ curve, model, x, y }) {
    const degrees = curve.maximum.angle * DEGREES;
    return h('div', { class: 'stack' }, [
        h(Figure, {
            title: `Separation over the direction in the plane of ${x} and ${y}`,
            name: `${model.name}-criterion`, of: curve, height: 280,
            draw: (svg, size) => draw(svg, size, curve),
            table: () => ({ names: ['degrees', 'criterion J'],
                rows: curve.angles.map((a, i) => [a * DEGREES, curve.criterion[i]]) }),
        }),
        h('p', {}, 'Turn a line in this plane and project the rows on it: at 0° it is the ' +
            `axis of ${x}, at 90° that of ${y}. J is the distance of the classes on the line, ` +
            `compared with their width. It is greatest at ${number(degrees, 3)}° (J = ` +
            `${number(curve.maximum.criterion)}): there the classes overlap least.`),
    ]);
}

function Columns({ names, x, y }) {
    const choice = (label, value, name) => h(Choice, {
        label, value, options: names, onChange: (chosen) => setQuery({ [name]: chosen }),
    });
    return h('div', { class: 'fields' }, [
        choice('First column', x, 'x'), choice('Second column', y, 'y'),
    ]);
}

/* The rows along the directions of the model. answer: of transform */
function Directions({ model, answer }) {
    return h('div', { class: 'grid broad' }, answer.histograms.slice(0, MOST_DIRECTIONS)
        .map((histogram, i) => h(ClassHistogram, {
            key: i, title: `Rows along direction ${i + 1}`,
            name: `${model.name}-direction-${i + 1}`,
            label: `direction ${i + 1}`, histogram, classes: answer.classes,
        })));
}

export function ProjectionTab({ model, query }) {
    const names = model.inputs.filter(({ type }) => type === 'numeric').map(({ name }) => name);
    const { name, version } = model.dataset;
    return h('div', { class: 'stack' }, [
        h('section', { class: 'card stack', 'aria-labelledby': 'directions-title' }, [
            h('h2', { id: 'directions-title' }, 'The classes along Fisher’s directions'),
            h('p', {}, 'The model projects each row on a few directions through the columns, ' +
                'chosen so that the classes lie far apart and each one is narrow. The first ' +
                'direction separates most. Where humps overlap, rows are confused.'),
            h(Loaded, {
                of: 0, what: 'the histograms',
                load: (signal) => post(`${versionPath(model)}/transform`,
                    { dataset: `${name}@${version}`, histogram: BINS }, { signal }),
                show: (answer) => h(Directions, { model, answer }),
            }),
        ]),
        names.length < 2 ? null : h('section', {
            class: 'card stack', 'aria-labelledby': 'criterion-title',
        }, [
            h('h2', { id: 'criterion-title' }, 'Which direction separates best'),
            h(Loaded, {
                of: 0, what: 'the columns', load: (signal) => importantColumns(model, signal),
                show: (proposed) => {
                    const order = [...proposed.filter((c) => names.includes(c)), ...names];
                    const x = names.includes(query.x) ? query.x
                        : order.find((c) => c !== query.y);
                    const y = names.includes(query.y) && query.y !== x ? query.y
                        : order.find((c) => c !== x);
                    return h('div', { class: 'stack' }, [
                        h(Columns, { names, x, y }),
                        h(Loaded, {
                            of: [x, y], what: 'the curve',
                            load: (signal) => post(`${versionPath(model)}/projection_curve`,
                                { dataset: `${name}@${version}`, columns: [x, y] }, { signal }),
                            show: (curve) => h(Curve, { curve, model, x, y }),
                        }),
                    ]);
                },
            }),
        ]),
    ]);
}
