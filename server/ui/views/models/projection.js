/* Histograms of the scores, or of the projections on Fisher's directions, by class. */
import { Component, h } from '../../base/preact.js';
import { post } from '../../base/api.js';
import { ClassHistogram } from '../../parts/class_histogram.js';
import { Choice } from '../../parts/fields.js';
import { Loaded } from '../../parts/loaded.js';
import { versionPath } from '../../base/version_path.js';
import { discriminantName } from './weights.js';

const BINS = 40;
const MOST_SCORES = 200; /* of models whose histograms are asked for */

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
        return h('div', { class: 'stack' }, [
            answer.histograms.length > 1 ? h('div', { class: 'fields broad' }, h(Choice, {
                label: 'Projection on', value: i,
                options: answer.histograms.map((_, k) => ({ value: k, label: this.name(k) })),
                onChange: (value) => this.setState({ chosen: Number(value) }),
            })) : null,
            h(ClassHistogram, {
                title: `Rows along the ${this.name(i)}`, name: `${model.name}-projection`,
                label: 'Projection', histogram: answer.histograms[i], classes: answer.classes,
            }),
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
