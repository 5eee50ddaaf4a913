/** How wide the place is that something stands in: known before it is drawn, so that nothing moves. */
import { useLayoutEffect, useState, type RefObject } from "react";

/** In pixels, of an element that takes all the width it is given; Infinity until it is there. */
export function useRoom(place: RefObject<HTMLElement | null>): number {
  const [room, setRoom] = useState(Infinity);
  useLayoutEffect(() => {
    const element = place.current;
    if (element === null) return undefined;
    const look = (): void => setRoom(element.clientWidth);
    look();
    const sizes = new ResizeObserver(look);
    sizes.observe(element);
    return () => sizes.disconnect();
  }, [place]);
  return room;
}
