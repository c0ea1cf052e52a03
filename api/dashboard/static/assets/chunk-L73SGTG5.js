var n={main:"main-2VWFTUIX.css",ask:"ask-XOD2MPAP.css"};var c={hash:"hash-ADVJ2URF.js",send:"send-4NNVC7MS.js"};export{n as a,c as b};
