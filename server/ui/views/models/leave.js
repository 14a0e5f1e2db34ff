/* Leaving what was deleted. */
import { changed } from '../../base/changes.js';
import { go, link, placeChanged } from '../../base/place.js';

/* Goes to a place and reports the change of models when it is shown, so that nothing asks for what
 * is gone. */
export function leave(path) {
    if (link(path) === location.hash) {
        changed('models');
        return;
    }
    const end = placeChanged.listen(() => {
        end();
        setTimeout(() => changed('models'));
    });
    go(path);
}
