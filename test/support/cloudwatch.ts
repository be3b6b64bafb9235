import * as z from 'zod'
import type { SynthesizedStage } from '../infra/synthesize.ts'

const Dimensions = z.array(z.object({ Name: z.string(), Value: z.string() })).default([])
const Filter = z.object({
  LogGroupName: z.string(),
  FilterPattern: z.string(),
  MetricTransformations: z.tuple([
    z.object({
      MetricNamespace: z.string(),
      MetricName: z.string(),
      MetricValue: z.string(),
      DefaultValue: z.number().optional(),
      Dimensions: z.array(z.object({ Key: z.string(), Value: z.string() })).default([]),
    }),
  ]),
})
const Stat = z.object({
  Metric: z.object({ Namespace: z.string(), MetricName: z.string(), Dimensions }),
  Period: z.number(),
  Stat: z.string(),
})
const Alarm = z.object({
  ...{ Threshold: z.number(), EvaluationPeriods: z.number(), TreatMissingData: z.enum(['breaching', 'notBreaching']) },
  ComparisonOperator: z.literal('GreaterThanOrEqualToThreshold'),
  AlarmDescription: z.string(),
  AlarmActions: z.array(z.string()).optional(),
  ...{ Namespace: z.string().optional(), MetricName: z.string().optional(), Dimensions },
  ...{ Period: z.number().optional(), Statistic: z.string().optional(), ExtendedStatistic: z.string().optional() },
  Metrics: z
    .array(
      z.object({
        Id: z.string(),
        MetricStat: Stat.optional(),
        Expression: z.string().optional(),
        Period: z.number().optional(),
      }),
    )
    .default([]),
})
const Composite = z.object({ AlarmDescription: z.string(), AlarmRule: z.string() })
const Rule = z.object({
  RuleName: z.string(),
  RuleBody: z.string().transform((text) =>
    z
      .object({
        LogGroupNames: z.array(z.string()),
        Contribution: z.object({
          Keys: z.array(z.string()),
          Filters: z.array(
            z.object({ Match: z.string(), In: z.array(z.string()).optional(), GreaterThan: z.number().optional() }),
          ),
        }),
      })
      .parse(JSON.parse(text)),
  ),
})

type Point = {
  readonly namespace: string
  readonly name: string
  readonly dimensions: string
  readonly value: number
  readonly minute: number
}

/**
 * Simulates CloudWatch with the metric filters, rules and alarms of a stage's template. Tests feed log lines and metrics by
 * minute and read the alarms that are on. Throws for patterns, expressions and statistics that the template does not use.
 */
export function createCloudWatch({ ofType }: Pick<SynthesizedStage, 'ofType'>) {
  const parsed = <T extends z.ZodType>(type: string, form: T) =>
    Object.entries(ofType(type)).map(([id, properties]) => [id, form.parse(properties)] as const)
  const filters = parsed('AWS::Logs::MetricFilter', Filter)
  const alarms = parsed('AWS::CloudWatch::Alarm', Alarm)
  const composites = parsed('AWS::CloudWatch::CompositeAlarm', Composite)
  const rules = parsed('AWS::CloudWatch::InsightRule', Rule)
  const points: Point[] = []
  const logged: { readonly group: string; readonly line: object; readonly minute: number }[] = []

  function measure(
    metric: { readonly namespace: string; readonly name: string; readonly dimensions?: Record<string, string> },
    value: number,
    minute: number,
  ): void {
    const { namespace, name, dimensions = {} } = metric
    points.push({ namespace, name, dimensions: keyOf(Object.entries(dimensions)), value, minute })
  }

  function log(group: string, line: object, minute: number): void {
    logged.push({ group, line, minute })
    for (const [, { LogGroupName, FilterPattern, MetricTransformations }] of filters) {
      const [{ MetricNamespace, MetricName, MetricValue, DefaultValue, Dimensions: named }] = MetricTransformations
      const isTaken = LogGroupName === group && matchesPattern(FilterPattern, line)
      if (LogGroupName !== group || (!isTaken && DefaultValue === undefined)) continue
      const metricValue = MetricValue.startsWith('$') ? fieldOf(line, MetricValue) : MetricValue
      const value = isTaken ? metricValue : DefaultValue
      const dimensions = Object.fromEntries(named.map(({ Key, Value }) => [Key, `${fieldOf(line, Value)}`]))
      measure({ namespace: MetricNamespace, name: MetricName, dimensions }, Number(value), minute)
    }
  }

  function statistic({ Metric, Stat: stat, Period }: z.output<typeof Stat>, end: number): number | undefined {
    const dimensions = keyOf(Metric.Dimensions.map(({ Name, Value }) => [Name, Value]))
    const values = points
      .filter((point) => point.namespace === Metric.Namespace && point.name === Metric.MetricName)
      .filter((point) => point.dimensions === dimensions && isIn(point.minute, end, Period))
      .map(({ value }) => value)
      .toSorted((a, b) => a - b)
    if (values.length === 0) return undefined
    if (stat === 'SampleCount') return values.length
    if (stat === 'Sum') return values.reduce((sum, value) => sum + value)
    if (stat === 'Maximum') return values.at(-1)
    if (stat === 'Minimum') return values[0]
    if (stat === 'Average') return values.reduce((sum, value) => sum + value) / values.length
    const [, percent] = /^p(\d+)$/.exec(stat) ?? []
    if (!percent) throw new Error(`No statistic ${stat}`)
    return values[Math.ceil((values.length * Number(percent)) / 100) - 1]
  }

  function contributors(ruleName: string, end: number, period: number): number {
    const [, rule] = rules.find(([, { RuleName }]) => RuleName === ruleName) ?? []
    if (!rule) throw new Error(`No rule ${ruleName}`)
    const { LogGroupNames, Contribution } = rule.RuleBody
    const counted = logged
      .filter(({ group, minute }) => LogGroupNames.includes(group) && isIn(minute, end, period))
      .filter(({ line }) =>
        Contribution.Filters.every(({ Match, In, GreaterThan }) => {
          const value = fieldOf(line, Match)
          return (!In || In.includes(`${value}`)) && (GreaterThan === undefined || Number(value) > GreaterThan)
        }),
      )
    return new Set(counted.map(({ line }) => keyOf(Contribution.Keys.map((key) => [key, `${fieldOf(line, key)}`]))))
      .size
  }

  function read(alarm: z.output<typeof Alarm>, end: number, period: number): number | undefined {
    const { Namespace = '', MetricName = '', Statistic, ExtendedStatistic, Metrics } = alarm
    const [expression, ...others] = Metrics.flatMap(({ Expression }) => Expression ?? [])
    if (expression === undefined) {
      const Metric = { Namespace, MetricName, Dimensions: alarm.Dimensions }
      return statistic({ Metric, Period: period, Stat: Statistic ?? ExtendedStatistic ?? '' }, end)
    }
    if (others.length > 0) throw new Error('One expression')
    const [, ruleName] = /^INSIGHT_RULE_METRIC\("(.*)", "UniqueContributors"\)$/.exec(expression) ?? []
    if (ruleName) return contributors(ruleName, end, period)
    const named = Metrics.flatMap(({ Id, MetricStat }) =>
      MetricStat ? [[Id, statistic(MetricStat, end)] as const] : [],
    )
    const IF = (condition: boolean, yes: number, no: number) => (condition ? yes : no)
    const FILL = (value: number | undefined, missing: number) => value ?? missing
    const MAX = (values: readonly (number | undefined)[]) =>
      Math.max(...values.filter((value) => value !== undefined && !Number.isNaN(value)).map(Number))
    // The metric math in the template is valid JavaScript if these functions exist. A metric without data becomes NaN.
    const calculate = new Function('IF', 'FILL', 'MAX', ...named.map(([id]) => id), `return ${expression}`)
    const value = Number(calculate(IF, FILL, MAX, ...named.map(([, each]) => each)))
    return Number.isNaN(value) ? undefined : value
  }

  function isOn(alarm: z.output<typeof Alarm>, minute: number): boolean {
    const { EvaluationPeriods, Threshold, TreatMissingData } = alarm
    const period = alarm.Period ?? alarm.Metrics.map((one) => one.Period ?? one.MetricStat?.Period).find(Number) ?? 0
    return Array.from({ length: EvaluationPeriods }, (_, back) => minute - (back * period) / 60).every((end) => {
      const value = read(alarm, end, period)
      return value === undefined ? TreatMissingData === 'breaching' : value >= Threshold
    })
  }

  function isOnNamed(id: string, minute: number): boolean {
    const [, alarm] = alarms.find(([name]) => name === id) ?? []
    if (!alarm) throw new Error(`No alarm ${id}`)
    return isOn(alarm, minute)
  }

  return {
    log,
    measure,
    /** Returns the names and descriptions of the alarms that notify somebody and are on at this minute. */
    alarmsAt(minute: number): Map<string, string> {
      const on = alarms.filter(([, alarm]) => alarm.AlarmActions && isOn(alarm, minute))
      const both = composites.filter(([, { AlarmRule }]) =>
        [...AlarmRule.matchAll(/ALARM\("([^"]+)"\)/g)].every(([, id = '']) => isOnNamed(id, minute)),
      )
      return new Map([...on, ...both].map(([id, { AlarmDescription }]) => [id, AlarmDescription]))
    },
    isOn: isOnNamed,
  }
}

function isIn(minute: number, end: number, periodSeconds: number): boolean {
  return minute >= end - periodSeconds / 60 && minute < end
}

function keyOf(pairs: readonly (readonly [string, string])[]): string {
  return JSON.stringify(pairs.toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

/** Returns the value in a log line at a path such as `$.report.delivered`. */
function fieldOf(line: object, place: string): unknown {
  return place
    .split('.')
    .slice(1)
    .reduce<unknown>((value, name) => Object(value)[name], line)
}

/**
 * Returns true if a log line matches a CloudWatch metric filter pattern. The pattern is a list of comparisons, joined by `&&`
 * or `||`. A quoted text in the pattern may contain `*` and never matches a number
 * (https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/FilterAndPatternSyntax.html).
 */
export function matchesPattern(pattern: string, line: object): boolean {
  const inner = pattern.replace(/^\{ (.*) \}$/, '$1')
  const parts = inner.split(/ (?:\|\||&&) /).map((part) => part.replace(/^\((.*)\)$/, '$1'))
  const each = parts.map((part) => {
    const [, place = '', operator, text = ''] = /^(\$[\w.]+) (>=|=|>) (.*)$/.exec(part) ?? []
    if (!operator) throw new Error(`No pattern ${pattern}`)
    const value = fieldOf(line, place)
    if (operator === '>') return typeof value === 'number' && value > Number(text)
    if (operator === '>=') return typeof value === 'number' && value >= Number(text)
    const wanted: unknown = JSON.parse(text)
    return typeof wanted === 'string' && typeof value === 'string' ? isLike(wanted, value) : value === wanted
  })
  return inner.includes('||') ? each.some(Boolean) : each.every(Boolean)
}

function isLike(wanted: string, value: string): boolean {
  return new RegExp(`^${wanted.replaceAll(/[^\w*]/g, '\\$&').replaceAll('*', '.*')}$`).test(value)
}
