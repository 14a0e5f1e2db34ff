/* The tools of a drawing: the class of new points, what the mouse does, shapes, undo. */
import { Component, h } from '../../base/preact.js';
import { plural } from '../../base/format.js';
import { Choice, NumberField, Slider } from '../../parts/fields.js';
import { colour, symbol } from '../../parts/palette.js';
import { CLASSES, MOST, SHAPE_OPTIONS, usualNoise } from './shapes.js';

const MODES = [
    { value: 'set', label: 'Set', hint: 'Click or tap sets a point, drag moves one.' },
    { value: 'paint', label: 'Paint', hint: 'Hold the button and move: points appear on the way.' },
    { value: 'remove', label: 'Remove', hint: 'Click or tap removes the nearest point.' },
];

function ClassButtons({ chosen, used, onChoose }) {
    const most = Math.min(Math.max(used + 1, 3, chosen + 1), CLASSES.length);
    return h('div', { class: 'buttons', role: 'group', 'aria-label': 'Class of new points' }, [
        h('strong', {}, 'Class'),
        ...CLASSES.slice(0, most).map((name, i) => h('button', {
            type: 'button', key: name, 'aria-pressed': i === chosen ? 'true' : 'false',
            title: `Key ${i + 1}`, onClick: () => onChoose(i),
        }, [
            h('svg', { width: 16, height: 16, viewBox: '-8 -8 16 16', 'aria-hidden': 'true' },
                h('path', { d: symbol(i, 80), style: { fill: colour(i) } })),
            name,
        ])),
    ]);
}

/* Generates a shape in place of the points. */
class Shapes extends Component {
    constructor(props) {
        super(props);
        this.state = { shape: 'moons', n: '100', noise: usualNoise('moons'), seed: '1' };
    }

    submit(event) {
        event.preventDefault();
        const { shape, n, noise, seed } = this.state;
        const count = Number(n);
        const wrong = {
            n: Number.isInteger(count) && count >= 1 && count <= MOST ? null
                : `a number from 1 to ${MOST}`,
            seed: /^[0-9]{1,9}$/.test(seed) ? null : 'a whole number, at least 0',
        };
        this.setState({ wrong });
        if (!wrong.n && !wrong.seed) {
            this.props.onGenerate({ shape, n: count, noise, seed: Number(seed) });
        }
    }

    render(props, { shape, n, noise, seed, wrong = {} }) {
        return h('details', { class: 'play-shapes' }, [
            h('summary', {}, 'Generate a shape'),
            h('form', { class: 'stack', onSubmit: (event) => this.submit(event) }, [
                h('div', { class: 'fields' }, [
                    h(Choice, {
                        label: 'Shape', value: shape, options: SHAPE_OPTIONS,
                        onChange: (value) =>
                            this.setState({ shape: value, noise: usualNoise(value) }),
                    }),
                    h(NumberField, {
                        label: 'Number of points', value: n, error: wrong.n,
                        onInput: (text) => this.setState({ n: text }),
                    }),
                    h(Slider, {
                        label: 'Noise', value: noise, min: 0, max: 2, step: 0.05,
                        text: (v) => v.toFixed(2), onInput: (v) => this.setState({ noise: v }),
                    }),
                    h(NumberField, {
                        label: 'Seed', value: seed, error: wrong.seed,
                        hint: 'The same seed gives the same points.',
                        onInput: (text) => this.setState({ seed: text }),
                    }),
                ]),
                h('div', { class: 'buttons' },
                    h('button', { type: 'submit' }, 'Generate')),
            ]),
        ]);
    }
}

/*   points, chosen, mode     what is shown
 *   onChoose, onMode         get the class and the mode
 *   onGenerate               gets a spec of generate()
 *   onUndo                   undefined: nothing to undo
 *   onReset, onClear         the points of the figure again; no points. undefined: no button
 */
export function Tools({
    points, chosen, mode, onChoose, onMode, onGenerate, onUndo, onReset, onClear,
}) {
    const used = points.reduce((most, p) => Math.max(most, p.c + 1), 0);
    return h('section', { class: 'card play-tools', 'aria-label': 'Points' }, [
        h('div', { class: 'play-row' }, [
            h(ClassButtons, { chosen, used, onChoose }),
            h('div', { class: 'buttons', role: 'group', 'aria-label': 'What the mouse does' },
                MODES.map(({ value, label, hint }) => h('button', {
                    type: 'button', key: value, title: hint,
                    'aria-pressed': value === mode ? 'true' : 'false', onClick: () => onMode(value),
                }, label))),
            h('div', { class: 'buttons' }, [
                h('button', { type: 'button', disabled: !onUndo, onClick: onUndo }, 'Undo'),
                onReset ? h('button', { type: 'button', onClick: onReset }, 'Start again') : null,
                onClear ? h('button', {
                    type: 'button', disabled: points.length === 0, onClick: onClear,
                }, 'Remove all') : null,
            ]),
            h('span', { class: 'minor' }, plural(points.length, 'point')),
        ]),
        h('p', { class: 'minor' }, [
            MODES.find(({ value }) => value === mode).hint,
            ' Keys in a plane: 1–9 choose the class, arrows move the cross, Enter sets a point ' +
            'or takes the one there and puts it down, Delete removes it, n goes to the next.',
        ]),
        onGenerate ? h(Shapes, { onGenerate }) : null,
    ]);
}
