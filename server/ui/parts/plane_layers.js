/* What is drawn into a plane (plane.js). inner: of drawGround(); at: {right, up}, the scales. */
import { d3 } from '../base/d3.js';
import { shortened } from '../base/format.js';
import { curveOf, disputed, labelPlace, middles, pathOf, probabilityField, regionsOf } from
    './contours.js';
import { colour, symbol } from './palette.js';

const LEVELS = [0.1, 0.25, 0.5, 0.75, 0.9];
const LONGEST_NAME = 24;
const NAME_PX = 8; /* of one character */
const MANY = 300; /* points that are drawn smaller */

/* What is computed of a grid once. */
const made = new WeakMap();

function once(grid, name, make) {
    if (!made.has(grid)) {
        made.set(grid, new Map());
    }
    const parts = made.get(grid);
    if (!parts.has(name)) {
        parts.set(name, make());
    }
    return parts.get(name);
}

function curves(grid) {
    return once(grid, 'regions', () => regionsOf(grid));
}

/* Defines the hatching of ambiguous regions. */
export function defineHatching(svg, id) {
    const pattern = svg.append('pattern').attr('id', id).attr('width', 8).attr('height', 8)
        .attr('patternUnits', 'userSpaceOnUse').attr('patternTransform', 'rotate(45)');
    pattern.append('line').attr('class', 'plane-hatch').attr('x1', 4).attr('x2', 4)
        .attr('y2', 8);
}

/* The regions of the classes. grid.colours: numbers of their colours, in place of 0, 1, …. fill: in
 * these colours; edge: their boundaries; hatching: an id. */
export function drawRegions(inner, { right, up }, grid, { fill, edge, hatching }) {
    const path = pathOf(grid, right, up);
    for (const { k, curve } of curves(grid)) {
        const region = inner.g.append('path').attr('d', path(curve))
            .attr('class', `plane-region${fill ? ' filled' : ''}${edge ? ' edged' : ''}`);
        if (k !== null) {
            region.style('fill', fill ? colour(grid.colours?.[k] ?? k) : 'none');
        } else {
            region.classed('hatched', true).attr('fill', `url(#${hatching})`);
        }
    }
}

/* Hatches where the machines do not agree on one class. */
export function drawDisputed(inner, { right, up }, grid, hatching) {
    const field = once(grid, 'disputed', () => disputed(grid));
    if (field) {
        inner.g.append('path').attr('class', 'plane-region hatched disputed')
            .attr('d', pathOf(grid, right, up)(curveOf(grid, field, 0)))
            .attr('fill', `url(#${hatching})`);
    }
}

/* The names of the classes, [{name, left, top, half}] in px, in their regions that have room. */
export function namePlaces(inner, { right, up }, grid) {
    const cell = Math.min(Math.abs(right(grid.x[1]) - right(grid.x[0])),
        Math.abs(up(grid.y[1]) - up(grid.y[0])));
    return once(grid, 'middles', () => middles(grid)).map(({ k, x, y, cells }) => {
        const name = shortened(grid.classes[k], LONGEST_NAME);
        return { name, left: right(x), top: up(y), half: name.length * NAME_PX / 2, cells };
    }).filter(({ left, top, half, cells }) => cells * cell > Math.max(NAME_PX, half / 3) &&
        left > half && left < inner.width - half && top > NAME_PX && top < inner.height - NAME_PX);
}

/* names: of namePlaces(). */
export function drawNames(inner, names) {
    for (const { name, left, top } of names) {
        inner.g.append('text').attr('class', 'plane-name').attr('paint-order', 'stroke')
            .attr('text-anchor', 'middle').attr('dominant-baseline', 'central')
            .attr('x', left).attr('y', top).text(name);
    }
}

/* One curve on which a field has a value, and this value in `texts` if it is given. */
function drawLevel(inner, texts, { right, up }, grid, [name, field, level], kind, text) {
    const curve = once(grid, `${name}:${level}`, () => curveOf(grid, field, level));
    inner.g.append('path').attr('class', `plane-level ${kind}`)
        .attr('d', pathOf(grid, right, up)(curve));
    const place = text && labelPlace(grid, curve, right, up,
        { left: 24, right: inner.width - 24, top: 12, bottom: inner.height - 12 }, inner.taken);
    if (place) {
        texts.append('text').attr('class', 'plane-value').attr('paint-order', 'stroke')
            .attr('text-anchor', 'middle').attr('dominant-baseline', 'central')
            .attr('x', place[0]).attr('y', place[1]).text(text);
    }
}

/* Lines of equal probability of class k, if the grid has it. texts: the group of their values. */
export function drawProbabilities(inner, texts, at, grid, k) {
    const field = probabilityField(grid, k);
    for (const level of field ? LEVELS : []) {
        drawLevel(inner, texts, at, grid, [`p${k}`, field, level], 'probability',
            `${100 * level} %`);
    }
}

/* Where the score of a machine is 0, or with `margin` -1 and 1. */
export function drawMachine(inner, texts, at, grid, m, margin) {
    for (const level of margin ? [-1, 1] : [0]) {
        drawLevel(inner, texts, at, grid, [`s${m}`, grid.scores[m], level],
            margin ? 'margin' : 'machine', margin ? `${level > 0 ? '+' : '−'}1` : undefined);
    }
}

/* Points: {x, y, c, ring, wrong}. kind: of the CSS class. */
export function drawPoints(inner, { right, up }, points, kind, held) {
    const many = points.length > MANY;
    const far = many ? 3.5 : 6;
    const place = (p) => `translate(${right(p.x)},${up(p.y)})`;
    const isInside = ({ x, y }) => right(x) >= -9 && right(x) <= inner.width + 9 &&
        up(y) >= -9 && up(y) <= inner.height + 9;
    points.forEach((p, i) => {
        if (!isInside(p)) {
            return;
        }
        const g = inner.g.append('g').attr('transform', place(p));
        g.append('path').attr('class', `${kind}${i === held ? ' held' : ''}`)
            .attr('d', symbol(Math.max(p.c, 0), many ? 26 : 48))
            .style('fill', p.c >= 0 ? colour(p.c) : 'var(--minor)');
        if (p.ring) {
            g.append('circle').attr('class', `plane-ring${many ? ' thin' : ''}`)
                .attr('r', many ? 5 : 7.5);
        }
        if (p.wrong) {
            g.append('path').attr('class', `plane-wrong${many ? ' thin' : ''}`)
                .attr('d', `M-${far}-${far}L${far} ${far}M-${far} ${far}L${far}-${far}`);
        }
    });
}

/* The frame that cuts off what is outside. Returns the inner group to draw in. taken: places (px)
 * of points, which values of lines should not hide. */
export function drawGround(inner, id, taken) {
    inner.g.append('clipPath').attr('id', id).append('rect')
        .attr('width', inner.width).attr('height', inner.height);
    const g = inner.g.append('g').attr('clip-path', `url(#${id})`);
    g.append('rect').attr('class', 'plane-ground').attr('width', inner.width)
        .attr('height', inner.height);
    return { ...inner, g, taken };
}

/* Returns the scale of an axis of the plane. */
export function scaleOf({ from, to, form }, range) {
    return form ? timeScale([from, to], range) : d3.scaleLinear().domain([from, to]).range(range);
}

/* A scale of seconds with ticks at dates. */
function timeScale([from, to], range) {
    const dates = d3.scaleUtc().domain([from * 1000, to * 1000]).range(range);
    const scale = (seconds) => dates(seconds * 1000);
    return Object.assign(scale, { invert: (px) => dates.invert(px).getTime() / 1000, axis: dates });
}
