const MAX = { size: 4096, operators: 300 }

const OPERATOR = /<>|[<>]=?|=|\b(?:AND|OR|NOT|BETWEEN)\b|\w+ ?(?=\()/gi
/** Pattern of the operators that DynamoDB counts in an update expression. Assignments do not count. */
const UPDATE_OPERATOR = /[+-]|\w+ ?(?=\()/g

/**
 * Returns DynamoDB's error message for an expression with too many characters or operators; otherwise undefined. `name` is the request
 * parameter with the expression, such as UpdateExpression. Source:
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html
 */
export function findExpressionLimitError(name: string, expression: string): string | undefined {
  const size = expression.length
  if (size > MAX.size) {
    return `Invalid ${name}: Expression size has exceeded the maximum allowed size; expression size: ${size}`
  }
  const count = expression.match(name === 'UpdateExpression' ? UPDATE_OPERATOR : OPERATOR)?.length ?? 0
  if (count <= MAX.operators) return undefined
  return `Invalid ${name}: The expression contains too many operators; operator count: ${count}`
}
