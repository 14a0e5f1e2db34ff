/* The layers of a network: a diagram, and the weights of each unit. */
import { Component, h } from '../../base/preact.js';
import { d3 } from '../../base/d3.js';
import { count } from '../../base/format.js';
import { Choice } from '../../parts/fields.js';
import { Figure } from '../../parts/figure.js';
import { Bars } from './bars.js';

const MOST_UNITS = 16; /* of a layer that are drawn */
const HEIGHT = 360;
const EDGE = 26; /* px above and below */
const LABEL = 110; /* px for the name of a layer */

/* The layers with the features in front: [{label, short, n, w}]. */
function layersOf({ layers, features, activation }) {
    return [{ label: 'Features', short: 'In', n: features.length },
        ...layers.map((layer, i) => ({
            label: i + 1 === layers.length ? 'Scores' : `Layer ${i + 1} (${activation})`,
            short: i + 1 === layers.length ? 'Out' : String(i + 1), n: layer.units, w: layer.w,
        }))];
}

function draw(svg, { width, height }, layers) {
    const g = svg.append('g');
    const x = (i) => 60 + (i * (width - 120)) / (layers.length - 1);
    const y = (n, k) => EDGE + ((k + 0.5) * (height - 2 * EDGE)) / n;
    const shown = layers.map(({ n }) => Math.min(n, MOST_UNITS));
    const narrow = x(1) - x(0) < LABEL;
    layers.slice(1).forEach(({ w }, i) => {
        if (!w) {
            return;
        }
        const cut = w.slice(0, shown[i + 1]).map((row) => row.slice(0, shown[i]));
        const most = d3.max(cut, (row) => d3.max(row, Math.abs)) || 1;
        cut.forEach((row, k) => row.forEach((value, j) => g.append('line')
            .attr('class', value < 0 ? 'edge negative' : 'edge')
            .attr('x1', x(i)).attr('y1', y(shown[i], j)).attr('x2', x(i + 1))
            .attr('y2', y(shown[i + 1], k)).attr('stroke-width', (3 * Math.abs(value)) / most)
            .attr('stroke-opacity', 0.15 + (0.75 * Math.abs(value)) / most)));
    });
    layers.forEach(({ label, short, n }, i) => {
        d3.range(shown[i]).forEach((k) => g.append('circle').attr('class', 'unit')
            .attr('cx', x(i)).attr('cy', y(shown[i], k)).attr('r', 6));
        g.append('text').attr('class', 'axis-label').attr('x', x(i)).attr('y', 14)
            .attr('text-anchor', 'middle').text(narrow ? short : label);
        g.append('text').attr('class', 'axis-label').attr('x', x(i)).attr('y', height - 6)
            .attr('text-anchor', 'middle').text(n > shown[i] ? `${shown[i]} of ${count(n)}` : n);
    });
}

/* weights: of the API, kind network */
export class Network extends Component {
    constructor(props) {
        super(props);
        this.state = { layer: 1, unit: 0 };
        this.layers = layersOf(props.weights);
    }

    items({ layer, unit }) {
        const key = `${layer} ${unit}`;
        if (this.by !== key) {
            const { weights } = this.props;
            this.by = key;
            this.list = this.layers[layer].w[unit].map((value, j) => ({
                value, name: layer === 1 ? weights.features[j] : `unit ${j + 1}`,
            }));
        }
        return this.list;
    }

    unitName(layer, unit) {
        const { classes } = this.props.model;
        return layer === this.layers.length - 1
            ? `“${classes.length === 2 ? classes[1] : classes[unit]}”` : `unit ${unit + 1}`;
    }

    unit(state) {
        const { layer, unit } = state;
        return h('div', { class: 'stack' }, [
            h('div', { class: 'fields' }, [
                h(Choice, {
                    label: 'Layer', value: layer,
                    options: this.layers.slice(1).map((l, i) => ({ value: i + 1, label: l.label })),
                    onChange: (value) => this.setState({ layer: Number(value), unit: 0 }),
                }),
                h(Choice, {
                    label: 'Unit', value: unit,
                    options: d3.range(this.layers[layer].n).map((k) => ({
                        value: k, label: this.unitName(layer, k) })),
                    onChange: (value) => this.setState({ unit: Number(value) }),
                }),
            ]),
            h(Bars, {
                title: `Weights of ${this.unitName(layer, unit)}, ${this.layers[layer].label}`,
                name: `${this.props.model.name}-unit`, items: this.items(state), label: 'Weight',
            }),
        ]);
    }

    render({ model }, state) {
        const { layers } = this;
        const known = layers[1].w !== undefined;
        return h('section', { class: 'card stack', 'aria-labelledby': 'network-title' }, [
            h('h2', { id: 'network-title' }, 'Layers'),
            h(Figure, {
                title: 'The network', name: `${model.name}-network`, height: HEIGHT, of: layers,
                draw: (svg, size) => draw(svg, size, layers),
                table: () => ({
                    names: ['layer', 'units'], rows: layers.map((l) => [l.label, l.n]),
                }),
            }, h('p', { class: 'minor' }, 'Each unit adds up the outputs of the layer before, ' +
                'times its weights, and bends the sum. Thick lines are large weights: blue ' +
                `ones positive, orange ones negative. At most ${MOST_UNITS} units of a layer are ` +
                'drawn.')),
            known ? this.unit(state) : h('p', { class: 'minor' }, 'The network has too many ' +
                'weights to look at them one by one.'),
        ]);
    }
}
