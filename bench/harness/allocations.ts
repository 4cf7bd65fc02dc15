import { GCProfiler, getHeapStatistics } from "node:v8";

/** The bytes that `work` allocates on V8's heap, collected or not. It varies by about one percent from run to run. */
export async function bytesAllocated(work: () => Promise<void>): Promise<number> {
  const profiler = new GCProfiler();
  profiler.start();
  const before = getHeapStatistics().used_heap_size;
  await work();
  const after = getHeapStatistics().used_heap_size;
  const { statistics } = profiler.stop();
  let allocated = 0;
  let left = before;
  for (const { beforeGC, afterGC } of statistics) {
    allocated += beforeGC.heapStatistics.usedHeapSize - left;
    left = afterGC.heapStatistics.usedHeapSize;
  }
  return allocated + after - left;
}
