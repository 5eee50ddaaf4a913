/** A box that scrolls sideways if its content is too wide, then also by keyboard. */
import { useEffect, useRef, useState, type ReactNode } from "react";

export function ScrollBox(props: { label: string; children: ReactNode }) {
  const box = useRef<HTMLDivElement>(null);
  const [isWider, setIsWider] = useState(false);
  useEffect(() => {
    const element = box.current!;
    const look = (): void => setIsWider(element.scrollWidth > element.clientWidth);
    const sizes = new ResizeObserver(look);
    // Later content may be wider than the first.
    const content = new MutationObserver(look);
    sizes.observe(element);
    for (const child of element.children) sizes.observe(child);
    content.observe(element, { childList: true, subtree: true, characterData: true });
    return () => {
      sizes.disconnect();
      content.disconnect();
    };
  }, []);
  return (
    <div
      ref={box}
      style={{ overflowX: "auto", overflowY: "hidden" }}
      {...(isWider && { tabIndex: 0, role: "group", "aria-label": props.label })}
    >
      {props.children}
    </div>
  );
}
