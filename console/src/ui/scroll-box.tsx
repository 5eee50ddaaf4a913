/** A box that scrolls sideways where its content is wider than the page, and then by keys too. */
import { useEffect, useRef, useState, type ReactNode } from "react";

export function ScrollBox(props: { label: string; children: ReactNode }) {
  const box = useRef<HTMLDivElement>(null);
  const [isWider, setIsWider] = useState(false);
  useEffect(() => {
    const element = box.current!;
    const watch = new ResizeObserver(() => setIsWider(element.scrollWidth > element.clientWidth));
    watch.observe(element);
    for (const child of element.children) watch.observe(child);
    return () => watch.disconnect();
  }, []);
  return (
    <div
      ref={box}
      style={{ overflowX: "auto" }}
      {...(isWider && { tabIndex: 0, role: "group", "aria-label": props.label })}
    >
      {props.children}
    </div>
  );
}
