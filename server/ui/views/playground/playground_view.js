/* The view "Playground": a free drawing, and the figures of the lectures. */
import { Component, h } from '../../base/preact.js';
import { url } from '../../base/api.js';
import { arrival, link, setQuery } from '../../base/place.js';
import { RequestCode } from '../../parts/code.js';
import { Board } from './board.js';
import { FIGURES, figureOf } from './figures.js';
import { Method, methodFrom, methodOf, methodQuery, requestOf } from './method.js';
import { SCRATCH, jobOf } from './scratch.js';
import { encode } from './shapes.js';
import { StartLink, takeClick } from './start.js';

const KEY = 'discern.playground.drawing';
const START = { shape: 'moons', n: 60, noise: 0.35, seed: 1 };

function saved() {
    try {
        return JSON.parse(sessionStorage.getItem(KEY)) || {};
    } catch {
        return {};
    }
}

function save(query) {
    try {
        sessionStorage.setItem(KEY, JSON.stringify(query));
    } catch {
        /* the browser forbids storage: the URL still has it */
    }
}

function Gallery({ current }) {
    return h('nav', { class: 'stack', 'aria-label': 'Figures of the lectures' }, [
        h('h2', { id: 'figures', tabindex: '-1' }, 'Figures of the lectures'),
        h('ul', { class: 'grid play-gallery' }, FIGURES.map(({ name, title, topic }) =>
            h('li', { key: name }, h(StartLink, {
                class: 'card', href: link(['playground', name]),
                'aria-current': name === current ? 'page' : null,
            }, [h('strong', {}, title), h('span', { class: 'minor' }, topic)])))),
    ]);
}

/* Points that anybody sets, and any method of the catalogue. */
class FreeDrawing extends Component {
    constructor(props) {
        super(props);
        this.state = { error: null };
        this.starts = takeClick();
        if (Object.keys(props.query).length === 0 && Object.keys(saved()).length > 0) {
            setQuery(saved());
        }
    }

    setMethod(method) {
        const { query } = this.props;
        const old = Object.fromEntries(Object.keys(query).filter((name) => name.startsWith('p.'))
            .map((name) => [name, undefined]));
        const change = Object.assign(old, methodQuery(method));
        save({ ...query, ...change });
        setQuery(change);
    }

    render({ query }, { error }) {
        const method = methodOf(query);
        const request = requestOf(method);
        const spec = {
            points: START,
            panels: [{
                title: 'Your drawing',
                show: { margins: method.algorithm === 'svm', contours: true, ellipses: true },
                request: () => request,
            }],
        };
        return h('div', { class: 'stack' }, [
            h('div', { class: 'head' }, [
                h('h1', {}, 'Playground'),
                h('button', {
                    type: 'button', class: 'quiet',
                    onClick: () => {
                        const heading = document.getElementById('figures');
                        heading.scrollIntoView();
                        heading.focus();
                    },
                }, 'To the figures of the lectures'),
            ]),
            h('p', {}, 'Set points of several classes and watch how a method separates them: it ' +
                'is trained again after every change.'),
            h(Board, {
                spec, query, starts: this.starts, free: true, onChange: save,
                onError: (e) => this.setState({ error: e }),
                below: [
                    h('p', { class: 'minor' }, [
                        'After “Train” the points are the dataset ', h('code', {}, SCRATCH),
                        ' and the model ',
                        h('a', { href: link(['models', `${SCRATCH}-a`]) }, `${SCRATCH}-a`),
                        ', for an hour.',
                    ]),
                    h(RequestCode, {
                        title: 'The training by command', request: {
                            method: 'POST', path: '/v1/jobs',
                            body: jobOf(request, `${SCRATCH}-a`, SCRATCH),
                        },
                    }),
                ],
            }, [
                h(Method, { method, error, onChange: (value) => this.setMethod(value) }),
            ]),
            h(Gallery),
        ]);
    }
}

function FigureText({ figure }) {
    return h('section', { class: 'card play-text', 'aria-label': 'About this figure' }, [
        h('div', {}, [h('h2', {}, 'What to look at'), h('p', {}, figure.look)]),
        h('div', {}, [
            h('h2', {}, 'Try'),
            h('ul', {}, figure.tries.map((text) => h('li', {}, text))),
        ]),
        h('div', {}, [
            h('h2', {}, 'Where it belongs'),
            h('p', {}, [h('strong', {}, figure.topic), h('br'), `${figure.section}. `,
                h('a', { href: url('/docs/lectures').href }, 'The lectures, line by line')]),
        ]),
    ]);
}

/* The place of the free drawing of points and a request. */
function freeLink(points, request) {
    return link(['playground'],
        { points: encode(points) || '-', ...methodQuery(methodFrom(request)) });
}

class LectureFigure extends Component {
    constructor(props) {
        super(props);
        this.starts = takeClick();
    }

    render({ figure, query }) {
        const at = FIGURES.indexOf(figure);
        const next = FIGURES[(at + 1) % FIGURES.length];
        return h('div', { class: 'stack' }, [
            h('div', { class: 'head' }, [
                h('h1', {}, figure.title),
                h('div', { class: 'buttons' }, [
                    h(StartLink, { class: 'button', href: link(['playground']) }, 'Draw freely'),
                    h(StartLink, { class: 'button', href: link(['playground', next.name]) },
                        `Next: ${next.title}`),
                ]),
            ]),
            h(FigureText, { figure }),
            h(Board, { spec: figure, query, starts: this.starts, link: freeLink }),
            h(Gallery, { current: figure.name }),
        ]);
    }
}

/* A place that was opened anew is a new drawing: it trains only what was clicked. */
export function PlaygroundView({ path: [name], query }) {
    if (name === undefined) {
        return h(FreeDrawing, { key: `free ${arrival()}`, query });
    }
    const figure = figureOf(name);
    if (!figure) {
        return h('div', { class: 'stack' }, [
            h('h1', {}, 'No such figure'),
            h('p', {}, ['There is no figure “', name, '”. ',
                h(StartLink, { href: link(['playground']) }, 'Draw freely'), ', or choose one:']),
            h(Gallery),
        ]);
    }
    return h(LectureFigure, { key: `${name} ${arrival()}`, figure, query });
}
