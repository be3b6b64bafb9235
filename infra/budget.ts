import { CfnBudget } from 'aws-cdk-lib/aws-budgets'
import type { Construct } from 'constructs'

type Settings = { readonly name: string; readonly monthlyUsd: number; readonly email: string }

/**
 * Adds a budget of the whole AWS account (docs/runbooks/budget.md). AWS sends e-mails when 80 % are spent, and when it forecasts more than
 * 100 %. It has no filter by tags, which would count nothing until the tags are activated.
 */
export function addBudget(scope: Construct, { name, monthlyUsd, email }: Settings): void {
  const mailAt = (notificationType: 'ACTUAL' | 'FORECASTED', threshold: number) => ({
    notification: { notificationType, comparisonOperator: 'GREATER_THAN', threshold, thresholdType: 'PERCENTAGE' },
    subscribers: [{ subscriptionType: 'EMAIL', address: email }],
  })
  new CfnBudget(scope, 'Budget', {
    budget: {
      budgetName: name,
      budgetType: 'COST',
      timeUnit: 'MONTHLY',
      budgetLimit: { amount: monthlyUsd, unit: 'USD' },
    },
    notificationsWithSubscribers: [mailAt('ACTUAL', 80), mailAt('FORECASTED', 100)],
  })
}
