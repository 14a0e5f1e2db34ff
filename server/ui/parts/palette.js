/* Colours and symbols of classes. The colours are variables of the style sheet, so that they fit
 * light and dark; symbols tell classes apart without colour. */
import { h } from '../base/preact.js';
import { d3 } from '../base/d3.js';

const N_COLOURS = 10;
const SYMBOLS = [d3.symbolCircle, d3.symbolSquare, d3.symbolTriangle, d3.symbolDiamond,
    d3.symbolCross, d3.symbolStar, d3.symbolWye];

export function colour(i) {
    return `var(--class-${i % N_COLOURS})`;
}

/* Returns the path of the symbol of class i. area: px². */
export function symbol(i, area = 40) {
    return d3.symbol().type(SYMBOLS[i % SYMBOLS.length]).size(area)();
}

/* A legend: names with colours and symbols. line: lines in place of symbols; dashes: their
 * stroke-dasharray, in turn. */
export function Legend({ names, line, dashes = [null], first = 0 }) {
    return h('ul', { class: 'legend' }, names.map((name, i) => h('li', { key: i }, [
        h('svg', { width: 18, height: 14, 'aria-hidden': 'true', viewBox: '-9 -7 18 14' },
            line ? h('path', {
                d: 'M-9 0H9', 'stroke-width': 3, 'stroke-dasharray': dashes[i % dashes.length],
                style: { stroke: colour(first + i) },
            }) : h('path', { d: symbol(first + i, 70), style: { fill: colour(first + i) } })),
        h('span', {}, String(name)),
    ])));
}
