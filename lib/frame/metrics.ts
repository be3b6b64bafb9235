import { Metrics } from '@aws-lambda-powertools/metrics'
import { type JobContract, METRICS_NAMESPACE } from './contract.ts'

type Measured = {
  readonly dimensions: Readonly<Record<string, unknown>>
  readonly report: Readonly<Record<string, unknown>>
}

/** Publishes these fields of a report as metrics of the job that POWERTOOLS_SERVICE_NAME names. */
export function measure(units: JobContract['metrics'], { dimensions, report }: Measured): void {
  const texts = Object.entries(dimensions).map(([name, value]) => [name, String(value)])
  const metrics = new Metrics({ namespace: METRICS_NAMESPACE, defaultDimensions: Object.fromEntries(texts) })
  for (const [name, unit] of Object.entries(units)) {
    const value = report[name]
    if (typeof value === 'number') metrics.addMetric(name, unit, value)
  }
  if (metrics.hasStoredMetrics()) metrics.publishStoredMetrics()
}
