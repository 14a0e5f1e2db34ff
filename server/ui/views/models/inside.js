/* The tab "What it learned": weights, densities, layers, support vectors, by the kind of model. */
import { Component, h } from '../../base/preact.js';
import { get } from '../../base/api.js';
import { count, plural } from '../../base/format.js';
import { link } from '../../base/place.js';
import { saveAnswer } from '../../base/save.js';
import { RequestCode } from '../../parts/code.js';
import { Loaded } from '../../parts/loaded.js';
import { Made } from './made.js';
import { Factors, Gaussians } from './densities.js';
import { Network } from './network.js';
import { Projection } from './projection.js';
import { Support } from './support.js';
import { versionPath } from '../../base/version_path.js';
import { Weights } from './weights.js';

const MOST_NUMBERS = 2000000; /* weights that are loaded */
const MOST_MATRIX = 300000; /* numbers of matrices that are loaded */

/* The number of weights of a model; an upper bound. */
function size({ n_features: features, n_machines: machines, classes, algorithm }) {
    return algorithm === 'knn' ? 0 : features * Math.max(machines || 1, classes.length);
}

/* Whether a model has covariances or layers that are small enough to be loaded. */
function small({ algorithm, params, n_features: features, classes }) {
    if (algorithm === 'mlp') {
        const units = [features, ...[params.layers].flat(), classes.length];
        return units.slice(1).reduce((sum, n, i) => sum + n * units[i], 0) <= MOST_MATRIX;
    }
    const matrices = params.covariance === 'shared' ? 1 : classes.length;
    return algorithm === 'gaussian' && features * features * matrices <= MOST_MATRIX;
}

function load(model, signal) {
    return get(`${versionPath(model)}/weights`, {
        query: { statistics: true, matrices: small(model) ? undefined : false }, signal,
    });
}

function Neighbours({ weights }) {
    return h('section', { class: 'card', 'aria-label': 'Neighbours' }, [
        h('h2', {}, 'Neighbours'),
        h('p', {}, `The model is its ${plural(weights.n_rows, 'training row')}. A row gets the ` +
            `class that most of the ${weights.k} nearest ones have, by ${weights.metric} distance` +
            `${weights.votes === 'uniform' ? '' : `, weighted by ${weights.votes}`}.`),
        h('p', { class: 'minor' }, 'Nothing is summed up in weights. “Importance” measures which ' +
            'columns it needs.'),
    ]);
}

function TooLarge({ model }) {
    const where = `${versionPath(model)}/weights`;
    return h('section', { class: 'card stack', 'aria-label': 'Weights' }, [
        h('p', {}, `The model has up to ${count(size(model))} weights: too many to look at. They ` +
            'can be saved as a file.'),
        h('div', { class: 'buttons' }, h('button', {
            type: 'button',
            onClick: () => void saveAnswer(where, `${model.name}-weights.json`),
        }, 'Save all weights')),
    ]);
}

/* What there is of a kind of model. */
function Contents({ model, weights }) {
    const { kind } = weights;
    return h('div', { class: 'stack' }, [
        kind === 'linear' && weights.w ? h(Weights, { model, weights }) : null,
        weights.means && weights.covariances ? h(Gaussians, { model, weights }) : null,
        weights.factors ? h(Factors, { model, weights }) : null,
        kind === 'network' ? h(Network, { model, weights }) : null,
        kind === 'neighbours' ? h(Neighbours, { weights }) : null,
        model.algorithm === 'svm' || model.algorithm === 'one_class_svm'
            ? h(Support, { model, weights }) : null,
        kind === 'linear' || weights.directions ? h(Projection, { model, weights }) : null,
    ]);
}

export class Inside extends Component {
    render({ model, name }) {
        const { version } = model;
        return h('div', { class: 'stack' }, [
            h(Made, { model }),
            size(model) > MOST_NUMBERS ? h(TooLarge, { model }) : h(Loaded, {
                of: [name, version], what: 'the weights',
                load: (signal) => load(model, signal),
                show: (weights) => h(Contents, { model, weights }),
            }),
            h('p', {}, [
                'Weights show how the method computes. Which columns matter for the result is ' +
                    'measured under ',
                h('a', { href: link(['models', name, String(version)], { tab: 'importance' }) },
                    'Importance'), '.',
            ]),
            h(RequestCode, {
                request: { method: 'GET', query: { statistics: true },
                    path: `${versionPath(model)}/weights` },
            }),
        ]);
    }
}
