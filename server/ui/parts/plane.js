/* A plane over two columns: what a model answers there, the data, and points of the user. The user
 * zooms, reads the answer at a place, and sets, moves and removes points, by mouse and keyboard. */
import { Component, h } from '../base/preact.js';
import { d3 } from '../base/d3.js';
import { writeDate } from '../base/dates.js';
import { number, percent, shortened } from '../base/format.js';
import { MARGIN, frame, xAxis, yAxis } from './axes.js';
import { answerAt } from './contours.js';
import { newId } from './fields.js';
import { Figure } from './figure.js';
import {
    defineHatching, drawDisputed, drawGround, drawMachine, drawNames, drawPoints,
    drawProbabilities, drawRegions, namePlaces, scaleOf,
} from './plane_layers.js';

const REACH = 10; /* px around a point that take it */
const STILL = 4; /* px that a click may move */
const KEY_STEPS = 50; /* of the cross from edge to edge */
const ZOOM = 1.5;
const BRUSH = 14; /* px from one painted point to the next */
const READ_WAIT = 400; /* ms until a screen reader gets the place of the cross */
const TABLE_SIDE = 12; /* values of an axis in the table on the page */

const clamp = (v, low, high) => Math.min(Math.max(v, low), high);

/* A value of an axis as text. */
export function valueText({ form, from, to }, v) {
    return form ? writeDate(v, form)
        : number(Number(v.toPrecision(12)), Math.abs(v) < Math.abs(to - from) ? 3 : 5);
}

/* Returns the window of a plane, moved by shares of its sides, and larger by `factor` around a
 * place. */
function changedWindow({ x, y }, [right, up], factor = 1, place = null) {
    const change = ({ from, to }, share, middle) => {
        const shift = share * (to - from);
        return [middle + (from - middle) * factor + shift, middle + (to - middle) * factor + shift];
    };
    const middle = place || [(x.from + x.to) / 2, (y.from + y.to) / 2];
    return { x: change(x, right, middle[0]), y: change(y, up, middle[1]) };
}

/* The buttons that move the window. */
function WindowButtons({ plane, onWindow }) {
    const change = (...by) => () => onWindow(changedWindow(plane, ...by));
    const buttons = [
        ['Zoom in', change([0, 0], 1 / ZOOM)], ['Zoom out', change([0, 0], ZOOM)],
        ['Left', change([-0.25, 0])], ['Right', change([0.25, 0])], ['Up', change([0, 0.25])],
        ['Down', change([0, -0.25])], ['Whole plane', () => onWindow(null)],
    ];
    return h('div', { class: 'plane-tools', role: 'group', 'aria-label': 'Part of the plane' },
        buttons.map(([label, run]) => h('button', {
            type: 'button', class: 'quiet', onClick: run, key: label,
        }, label)));
}

/*   title, label, name, level, height, children   as for Figure
 *   x, y      {label, from, to, form}: the axes. form: of a datetime column (base/dates.js), whose
 *             values are seconds
 *   grid      of readGrid() in contours.js; null: there is none yet
 *   show      what is drawn of the grid:
 *               regions      the classes in their colours; names: their names in them
 *               boundary     the edges of the regions
 *               disputed     hatches where machines of several classes do not agree
 *               probability  index of a class: lines of its probability
 *               machines     indices of scores: lines where they are 0
 *               margins      indices of scores: lines where they are -1 and 1
 *   rows      [{x, y, c, wrong, ring, text}]: data that stay; c: index of a class or -1; wrong:
 *             with a cross; ring: with a ring; text: what is read of it
 *   points    [{x, y, c, text}]: of the user
 *   onPoint   (x, y): sets a point; undefined: no points can be set
 *   onMove    (i, x, y): moves a point; called for each move of the mouse
 *   onRemove  (i): removes a point (Delete, or a click with Alt)
 *   removes   true: a click removes the point there and sets none
 *   onPaint   (x, y): sets points on the way of the mouse while its button is held; no point is
 *             moved then
 *   overlay   (inner, at) => draws over the answers and below the points; inner: of frame(),
 *             at: {right, up}, the scales
 *   quiet     true: the list of keys is for screen readers only
 *   onWindow  ({x: [from, to], y: [from, to]}, or null for the whole plane): the user has zoomed or
 *             moved; undefined: the window is fixed
 *   busy      the shown grid is not that of the window yet
 * All places are in the units of the columns. Props that are drawn must be new values when they
 * change (===). */
export class Plane extends Component {
    constructor(props) {
        super(props);
        this.id = newId('plane');
        this.cross = null; /* {x, y} */
        this.held = -1; /* the point that the arrow keys move */
        this.drag = null;
        this.state = { read: '', spoken: '' };
        this.handlers = {
            onPointerDown: (event) => this.down(event),
            onPointerMove: (event) => this.moved(event),
            onPointerUp: (event) => this.up(event),
            onPointerCancel: () => { this.drag = null; },
            onPointerLeave: () => this.setState({ read: '' }),
            onWheel: (event) => this.wheel(event),
            onKeyDown: (event) => this.key(event),
            onBlur: () => this.hold(-1),
        };
    }

    componentWillReceiveProps({ points = [] }) {
        if (this.held >= points.length) {
            this.held = -1;
        }
    }

    componentWillUnmount() {
        clearTimeout(this.timer);
    }

    /* ---- drawing ---- */

    draw(svg, size) {
        const { x, y, grid, show, rows = [], points = [] } = this.props;
        const inner = frame(svg, size, { ...MARGIN, right: 20 });
        const at = { right: scaleOf(x, [0, inner.width]), up: scaleOf(y, [inner.height, 0]) };
        const hatching = `${this.id}-hatching`;
        defineHatching(svg, hatching);
        const ground = drawGround(inner, `${this.id}-clip`, [...rows, ...points]
            .map((p) => [at.right(p.x), at.up(p.y)]));
        const texts = ground.g.append('g');
        const names = grid && show.regions && show.names ? namePlaces(ground, at, grid) : [];
        ground.taken.push(...names.flatMap(({ left, top, half }) =>
            [-1, 0, 1].map((side) => [left + side * half, top])));
        if (grid) {
            drawRegions(ground, at, grid,
                { fill: show.regions, edge: show.boundary, hatching });
            if (show.disputed) {
                drawDisputed(ground, at, grid, hatching);
            }
            (show.machines || []).forEach((m) => drawMachine(ground, texts, at, grid, m, false));
            (show.margins || []).forEach((m) => drawMachine(ground, texts, at, grid, m, true));
            if (show.probability !== undefined) {
                drawProbabilities(ground, texts, at, grid, show.probability);
            }
        }
        this.props.overlay?.(ground, at);
        drawPoints(ground, at, rows, 'plane-row');
        texts.raise();
        drawNames(ground, names);
        const ticks = (axis, length) => ({
            label: axis.label && shortened(axis.label),
            ticks: axis.form ? Math.max(length / 110, 2) : undefined });
        xAxis(inner, at.right.axis || at.right, ticks(x, inner.width));
        yAxis(inner, at.up.axis || at.up, ticks(y, inner.height));
        this.at = at;
        this.size = inner;
        this.front = { ...inner, g: ground.g.append('g') };
        this.drawFront();
    }

    /* What changes while the mouse moves: the points of the user and the cross. */
    drawFront() {
        const { right, up } = this.at;
        this.front.g.selectAll('*').remove();
        drawPoints(this.front, this.at, this.props.points || [], 'plane-point', this.held);
        if (this.cross) {
            this.front.g.append('path').attr('class', 'plane-cross').attr('d', 'M-12 0H12M0-12V12')
                .attr('transform', `translate(${right(this.cross.x)},${up(this.cross.y)})`);
        }
    }

    componentDidUpdate(before) {
        if (before.points !== this.props.points && this.front) {
            this.drawFront();
        }
    }

    /* ---- places ---- */

    locate(event) {
        const [left, top] = d3.clientPoint(this.front.g.node(), event);
        const { width, height } = this.size;
        return {
            left, top, x: this.at.right.invert(left), y: this.at.up.invert(top),
            inside: left >= 0 && top >= 0 && left <= width && top <= height,
        };
    }

    nearest(points, { x, y }) {
        const { right, up } = this.at;
        let best = -1;
        let least = REACH;
        points.forEach((p, i) => {
            const far = Math.hypot(right(p.x) - right(x), up(p.y) - up(y));
            if (far <= least) {
                [best, least] = [i, far];
            }
        });
        return best;
    }

    /* What is known of a place, in words. */
    textAt(place) {
        const { x, y, grid, rows = [], points = [] } = this.props;
        const answer = grid && answerAt(grid, place.x, place.y);
        const parts = [`${shortened(x.label)} ${valueText(x, place.x)}, ` +
            `${shortened(y.label)} ${valueText(y, place.y)}`];
        if (answer) {
            parts.push(answer.label === null ? 'no class: ambiguous'
                : shortened(grid.classes[answer.label]) + (answer.probability === undefined ? ''
                    : ` (${percent(answer.probability)})`));
        }
        const [point, row] = [points[this.nearest(points, place)],
            rows[this.nearest(rows, place)]];
        return parts.join(': ') + [point, row].filter((p) => p?.text)
            .map((p) => ` · ${p.text}`).join('');
    }

    /* ---- mouse ---- */

    down(event) {
        if (!this.front || event.button !== 0) {
            return;
        }
        const { points = [], x, y, onMove, onPaint, removes } = this.props;
        const place = this.locate(event);
        const takes = onMove && !onPaint && !removes && !event.altKey;
        const taken = takes ? this.nearest(points, place) : -1;
        if (taken >= 0 || (place.inside && (onPaint || event.pointerType !== 'touch'))) {
            event.currentTarget.setPointerCapture(event.pointerId);
        }
        this.drag = { taken, place, moving: false, plane: { x, y } };
    }

    moved(event) {
        if (!this.front) {
            return;
        }
        const place = this.locate(event);
        const { drag } = this;
        if (drag) {
            const [dx, dy] = [place.left - drag.place.left, place.top - drag.place.top];
            drag.moving = drag.moving || Math.hypot(dx, dy) > STILL;
            if (drag.moving) {
                this.dragTo(place, [dx, dy], event.pointerType);
            }
        }
        this.setState({ read: place.inside ? this.textAt(place) : '' });
    }

    dragTo({ x, y }, [dx, dy], pointer) {
        const { drag } = this;
        const { onMove, onPaint, onWindow } = this.props;
        if (drag.taken >= 0) {
            onMove(drag.taken, ...this.within(x, y));
        } else if (onPaint && drag.place.inside) {
            this.paint({ x, y }, [dx, dy]);
        } else if (onWindow && pointer !== 'touch' && drag.place.inside) {
            const { width, height } = this.size;
            onWindow(changedWindow(drag.plane, [-dx / width, dy / height]));
        }
    }

    /* Paints on the way from the last place to this one. */
    paint({ x, y }, [dx, dy]) {
        const { place } = this.drag;
        const n = Math.floor(Math.hypot(dx, dy) / BRUSH);
        for (let i = 1; i <= n; i++) {
            this.props.onPaint(...this.within(place.x + i * (x - place.x) / n,
                place.y + i * (y - place.y) / n));
        }
        if (n > 0) {
            this.drag.place = { ...place, x, y, left: place.left + dx, top: place.top + dy };
        }
    }

    within(x, y) {
        const plane = this.props;
        return [clamp(x, plane.x.from, plane.x.to), clamp(y, plane.y.from, plane.y.to)];
    }

    up(event) {
        const { drag } = this;
        this.drag = null;
        if (!drag || drag.moving) {
            return;
        }
        const { points = [], onPoint, onRemove, removes } = this.props;
        const place = this.locate(event);
        const taken = this.nearest(points, place);
        if ((event.altKey || removes) && onRemove) {
            if (taken >= 0) {
                onRemove(taken);
            }
        } else if (onPoint && place.inside && taken < 0) {
            onPoint(place.x, place.y);
        }
    }

    /* Zooms with Ctrl, as browsers send the gesture of two fingers; otherwise the page scrolls. */
    wheel(event) {
        const { onWindow } = this.props;
        if (onWindow && event.ctrlKey && this.front) {
            event.preventDefault();
            const { x, y } = this.locate(event);
            onWindow(changedWindow(this.props, [0, 0],
                2 ** clamp(event.deltaY / 200, -1, 1), [x, y]));
        }
    }

    /* ---- keyboard ---- */

    key(event) {
        if (!this.front || event.altKey || event.metaKey || event.ctrlKey) {
            return;
        }
        const arrow = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1],
            ArrowDown: [0, -1] }[event.key];
        const done = arrow ? this.step(arrow, event.shiftKey ? 1 / 5 : 1) : this.press(event.key);
        if (done) {
            event.preventDefault();
        }
    }

    /* Moves the cross, and the point that is held. */
    step([right, up], part) {
        const { x, y, onMove } = this.props;
        const at = this.cross || { x: (x.from + x.to) / 2, y: (y.from + y.to) / 2 };
        const way = (axis) => part * (axis.to - axis.from) / KEY_STEPS;
        const [nx, ny] = this.within(at.x + right * way(x), at.y + up * way(y));
        if (this.held >= 0) {
            onMove(this.held, nx, ny);
        }
        this.place({ x: nx, y: ny });
        return true;
    }

    press(key) {
        const { x, y, points = [], onPoint, onMove, onRemove, onWindow } = this.props;
        const at = this.cross || { x: (x.from + x.to) / 2, y: (y.from + y.to) / 2 };
        const under = this.nearest(points, at);
        const zoom = { '+': 1 / ZOOM, '-': ZOOM }[key];
        if (key === 'Enter' || key === ' ') {
            if (this.held >= 0) {
                this.hold(-1);
            } else if (under >= 0 && onMove) {
                this.hold(under);
            } else if (onPoint) {
                onPoint(at.x, at.y);
                this.place(at);
            }
        } else if (key === 'Delete' && onRemove && under >= 0) {
            this.hold(-1);
            onRemove(under);
        } else if ((key === 'n' || key === 'p') && points.length) {
            const way = key === 'n' ? 1 : -1;
            const next = under < 0 ? 0 : (under + way + points.length) % points.length;
            this.hold(-1);
            this.place(points[next]);
        } else if (zoom && onWindow) {
            onWindow(changedWindow(this.props, [0, 0], zoom, [at.x, at.y]));
        } else if (key === '0' && onWindow) {
            onWindow(null);
        } else if (key === 'Escape' && (this.held >= 0 || this.cross)) {
            this.hold(-1);
            this.cross = null;
            this.drawFront();
        } else {
            return false;
        }
        return true;
    }

    hold(i) {
        if (this.held !== i && this.front) {
            this.held = i;
            this.drawFront();
            this.speak(i >= 0 ? 'Point taken: arrows move it' : 'Point released');
        }
    }

    place({ x, y }) {
        this.cross = { x, y };
        this.drawFront();
        const text = this.textAt(this.cross);
        this.setState({ read: text });
        this.speak(text);
    }

    speak(text) {
        clearTimeout(this.timer);
        this.timer = setTimeout(() => this.setState({ spoken: text }), READ_WAIT);
    }

    /* ---- table ---- */

    /* The answers on the grid; on the page those at some of its points. */
    table(whole) {
        const { grid, x, y } = this.props;
        const every = (n) => (whole ? 1 : Math.max(Math.floor(n / TABLE_SIDE), 1));
        const [nx, ny] = [grid.x.length, grid.y.length];
        const { probabilities = [], scores = [], classes } = grid;
        const rows = [];
        for (let j = 0; j < ny; j += every(ny)) {
            for (let i = 0; i < nx; i += every(nx)) {
                const at = j * nx + i;
                const label = grid.labels[at];
                rows.push([x.form ? writeDate(grid.x[i], x.form) : grid.x[i],
                    y.form ? writeDate(grid.y[j], y.form) : grid.y[j],
                    label === null ? 'ambiguous' : classes[label],
                    ...probabilities.map((p) => p[at]), ...scores.map((s) => s[at])]);
            }
        }
        return {
            names: [x.label, y.label, 'answer',
                ...probabilities.map((_, p) => `p(${classes[grid.planes?.[p] ?? p]})`),
                ...scores.map((_, m) => (scores.length > 1 ? `score ${m + 1}` : 'score'))],
            rows,
            note: every(nx) > 1 || every(ny) > 1 ? 'The answers at some places of the plane; the '
                + 'CSV has all that were asked for.' : undefined,
        };
    }

    /* What the plane depends on; the same object as long as nothing changes. */
    dependence({ x, y, grid, show, rows, overlay }) {
        const window = JSON.stringify([x, y, show]);
        const is = this.drawn;
        if (!is || is.window !== window || is.grid !== grid || is.rows !== rows ||
            is.overlay !== overlay) {
            this.drawn = { window, grid, rows, overlay };
        }
        return this.drawn;
    }

    /* The keys that do something now: those of points only if there are points. */
    hint() {
        const { points = [], onPoint, onMove, onRemove, onWindow } = this.props;
        const any = points.length > 0;
        return ['Keys: arrows move the cross (Shift: finer)',
            onPoint ? 'Enter sets a point' +
                (any && onMove ? ' or takes the one under the cross' : '') : '',
            any && onRemove ? 'Delete removes it' : '', any ? 'n and p go to the next point' : '',
            onWindow ? '+, − and 0 zoom' : ''].filter(Boolean).join(', ') + '.';
    }

    render({ title, label, name, level, height, children, x, y, grid, show, rows, busy, onWindow,
        points, overlay, quiet }, { read, spoken }) {
        const help = `${this.id}-help`;
        const notes = [...(children || []),
            onWindow ? h(WindowButtons, { plane: { x, y }, onWindow }) : null,
            h('p', { class: 'plane-read' }, read || 'Point at a place to read the answer there.'),
        ];
        return h('div', { class: `plane${busy ? ' busy' : ''}` }, [
            h(Figure, {
                title, name, level,
                label: label || `${title}: a plane of ${x.label} and ${y.label}`,
                height: height || ((width) => clamp(Math.round(width * 0.75), 280, 660)),
                of: this.dependence({ x, y, grid, show, rows, overlay }),
                draw: (...args) => this.draw(...args),
                table: grid ? (whole) => this.table(whole) : undefined,
                attributes: {
                    ...this.handlers, tabindex: '0', role: 'application',
                    'aria-roledescription': 'plane', 'aria-describedby': help,
                    class: `plane-surface${onWindow ? ' movable' : ''}` +
                        `${points && points.length ? ' pointed' : ''}`,
                },
            }, notes),
            h('p', { class: quiet ? 'hidden' : 'minor', id: help }, this.hint()),
            h('span', { class: 'hidden', role: 'status' }, spoken),
        ]);
    }
}
