/** An image from memory: the content security policy allows no other sources. */
import { useEffect, useState } from "react";
import classes from "./playground.module.css";

/** A blob URL, valid while the component is mounted. */
export function useBlobUrl(blob: Blob): string | undefined {
  const [url, setUrl] = useState<string>();
  useEffect(() => {
    const made = URL.createObjectURL(blob);
    // oxlint-disable-next-line react/set-state-in-effect -- the address is made and ended with what shows it
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [blob]);
  return url;
}

export function ShownPicture({ blob, alt }: { blob: Blob; alt: string }) {
  const url = useBlobUrl(blob);
  return url === undefined ? null : <img src={url} alt={alt} className={classes["picture"]} />;
}
