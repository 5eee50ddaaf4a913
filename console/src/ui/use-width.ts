/** The available width of an element, known before it is painted, so that nothing moves. */
import { useLayoutEffect, useState, type RefObject } from "react";

/** The width in pixels of an element that fills its parent; Infinity until it is mounted. */
export function useWidth(place: RefObject<HTMLElement | null>): number {
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
