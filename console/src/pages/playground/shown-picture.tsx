/** A picture of the page's own, shown from memory: the policy allows no other addresses. */
import { useEffect, useState } from "react";
import classes from "./playground.module.css";

/** An address of bytes for as long as they are shown. */
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
