// Renders what stands inside once it has come near the viewport, so that a page of many charts asks for few of them.

import { useEffect, useRef, useState } from "react";

export function InView({ height, children }: { height: number; children: React.ReactNode }) {
  const box = useRef<HTMLDivElement>(null);
  const [isNear, setNear] = useState(false);
  useEffect(() => {
    if (box.current === null || isNear) return;
    const observer = new IntersectionObserver(
      (entries) => entries.some((entry) => entry.isIntersecting) && setNear(true),
      {
        rootMargin: "300px",
      },
    );
    observer.observe(box.current);
    return () => observer.disconnect();
  }, [isNear]);
  return (
    <div ref={box} style={isNear ? {} : { minHeight: height }}>
      {isNear && children}
    </div>
  );
}
