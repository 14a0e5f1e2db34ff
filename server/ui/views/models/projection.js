/* Histograms of the scores, or of the projections on Fisher's directions, by class. */
import { Component, h } from '../../base/preact.js';
import { d3 } from '../../base/d3.js';
import { post } from '../../base/api.js';
import { frame, xAxis, yAxis } from '../../parts/axes.js';
import { Choice } from '../../parts/fields.js';
import { Figure } from '../../parts/figure.js';
import { Loaded } from '../../parts/loaded.js';
import { Legend, colour } from '../../parts/palette.js';
import { versionPath } from './version_path.js';
import { discriminantName } from './weights.js';

const BINS = 40;
const MOST_CLASSES = 8;
const MOST_SCORES = 200; /* of models whose histograms are asked for */

function draw(svg, size, { edges, counts }, label) {
    const inner = frame(svg, size);
    const x = d3.scaleLinear().domain([edges[0], edges[edges.length - 1]]).range([0, inner.width]);
    const y = d3.scaleLinear().domain([0, d3.max(counts, (c) => d3.max(c)) || 1]).nice()
        .range([inner.height, 0]);
    xAxis(inner, x, { label, grid: false });
    yAxis(inner, y, { label: 'Rows', grid: true });
    const area = d3.area().curve(d3.curveStepAfter).x((_, i) => x(edges[i])).y0(y(0));
    counts.forEach((row, i) => {
        const closed = [...row, row[row.length - 1]];
        inner.g.append('path').attr('class', 'hump').style('fill', colour(i))
            .style('stroke', colour(i)).attr('d', area.y1((_, k) => y(closed[k]))(closed));
    });
}

/* The classes that are drawn: the first ones, or those of the chosen score. */
function cut(histogram, classes) {
    return { edges: histogram.edges, counts: histogram.counts.slice(0, MOST_CLASSES),
        classes: classes.slice(0, MOST_CLASSES) };
}

class Histogram extends Component {
    constructor(props) {
        super(props);
        this.state = { chosen: 0 };
    }

    name(i) {
        const { directions, weights, model } = this.props;
        return directions ? `direction ${i + 1}`
            : `score: ${discriminantName(weights.discriminants[i], model.classes)}`;
    }

    render({ answer, model }, { chosen }) {
        const i = Math.min(chosen, answer.histograms.length - 1);
        const shown = cut(answer.histograms[i], answer.classes);
        return h('div', { class: 'stack' }, [
            answer.histograms.length > 1 ? h('div', { class: 'fields broad' }, h(Choice, {
                label: 'Projection on', value: i,
                options: answer.histograms.map((_, k) => ({ value: k, label: this.name(k) })),
                onChange: (value) => this.setState({ chosen: Number(value) }),
            })) : null,
            h(Figure, {
                title: `Rows along the ${this.name(i)}`, name: `${model.name}-projection`,
                of: answer.histograms[i], height: 280,
                draw: (svg, size) => draw(svg, size, shown, 'Projection'),
                table: () => ({
                    names: ['from', 'to', ...shown.classes.map(String)],
                    rows: shown.counts[0].map((_, k) => [shown.edges[k], shown.edges[k + 1],
                        ...shown.counts.map((row) => row[k])]),
                }),
            }, h(Legend, { names: shown.classes })),
            answer.classes.length > MOST_CLASSES ? h('p', { class: 'minor' },
                `The first ${MOST_CLASSES} of ${answer.classes.length} classes are drawn.`) : null,
        ]);
    }
}

/* model, weights: of the API */
export function Projection({ model, weights }) {
    const directions = weights.directions !== undefined;
    if (!model.dataset || weights.discriminants?.length > MOST_SCORES) {
        return null;
    }
    const { name, version } = model.dataset;
    return h('section', { class: 'card stack', 'aria-labelledby': 'projection-title' }, [
        h('h2', { id: 'projection-title' }, 'The classes along one line'),
        h('p', { class: 'minor' }, `The model reduces each row to ${directions
            ? 'its place along a few directions' : 'a score'}: the less the classes overlap ` +
            `here, the better it tells them apart. The rows are those of ${name}, version ` +
            `${version}, which it was trained on.`),
        h(Loaded, {
            of: [model.name, model.version], what: 'the histograms',
            load: (signal) => post(`${versionPath(model)}/transform`,
                { dataset: `${name}@${version}`, histogram: BINS },
                { query: { of: directions ? undefined : 'scores' }, signal }),
            show: (answer) => h(Histogram, { answer, model, weights, directions }),
        }),
    ]);
}
