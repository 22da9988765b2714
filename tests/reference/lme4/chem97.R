# Linear mixed models of lme4, restricted maximum likelihood: Rscript chem97.R DATA.csv
# Columns have mean 0 and deviation 1 over all rows, as src/train/mixed.c has them.
# For each form: the REML criterion, the residual's deviation and the random intercept's; last,
# as form 0, the first three tasks' random effects of form 1.
suppressMessages(library(lme4))
d <- read.csv(commandArgs(TRUE)[1])
d$task <- factor(d$task)
columns <- setdiff(names(d), c("task", "y"))
for (k in columns) d[[k]] <- as.numeric(scale(d[[k]]))
fixed <- paste("y ~", paste(columns, collapse = " + "))
slopes <- paste0("(0 + ", columns, " | task)", collapse = " + ")
forms <- c("(1 | task)", paste("(1 | task) +", slopes),
           paste("(1 +", paste(columns, collapse = " + "), "| task)"))
cat("form,criterion,residual,intercept\n")
for (k in seq_along(forms)) {
  fit <- lmer(as.formula(paste(fixed, "+", forms[k])), d)
  cat(sprintf("%d,%.8f,%.8f,%.8f\n", k, REMLcrit(fit), sigma(fit),
              attr(VarCorr(fit)[[1]], "stddev")[1]))
  if (k == 1) effects <- ranef(fit)$task[1:3, 1]
}
cat(sprintf("0,%.8f,%.8f,%.8f\n", effects[1], effects[2], effects[3]))
